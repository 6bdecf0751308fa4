import Foundation
import Glibc
import StageKit

/// Writes, removes and compares files, one job after another, on a thread of its own.
package final class FilesRunner: ThreadedRunner {
    package let thread: EffectThread

    package init(folder path: String) {
        thread = EffectThread("files") { _ in
            let work = FilesWork(folder: path)
            return { job in work.perform(job.effect.request) { job.answer($0) } }
        }
    }
}

/// Carries out effects, and keeps the files being written, by job.
package final class FilesWork {
    private let folder: FileFolder
    private var writers: [Int64: FileWriter] = [:]

    private static let listedAtOnce = 1000

    package init(folder path: String) { folder = FileFolder(path: path) }

    /// - Parameter reply: returns false when nothing is listening any more.
    package func perform(_ request: any Sendable, reply: (FileOutcome) -> Bool) {
        do throws(FileProblem) {
            switch request {
            case let part as FilePart:
                _ = reply(try take(part))
            case let drop as DropFile: writers[drop.job] = nil
            case let list as ListFiles: try listAll(list, reply)
            case let compare as CompareFiles:
                try folder.open(making: false)
                let differing = compare.entries.filter { !folder.holds($0, readsAll: compare.readsAll) }
                _ = reply(.compared(differing: differing.map(\.path)))
            default: break
            }
        } catch {
            if let part = request as? FilePart { writers[part.job] = nil }
            _ = reply(.failed(error))
        }
    }

    private func take(_ part: FilePart) throws(FileProblem) -> FileOutcome {
        if part.isFirst {
            try folder.open(making: part.makesFolder)
            let writer =
                part.compares
                ? FileWriter(comparing: part.path, in: folder) : try FileWriter(part.path, in: folder)
            writers[part.job] = writer
            try writer.write(part.head, rows: 0)
        }
        guard let writer = writers[part.job] else {
            throw FileProblem("a file was interrupted; it will be written again")
        }
        switch part.content {
        case .bytes(let bytes, let rows): try writer.write(bytes, rows: rows)
        case .samples(let pages, let maker):
            var bytes: [UInt8] = []
            for page in pages {
                bytes.removeAll(keepingCapacity: true)
                let rows = maker.append(page, to: &bytes)
                try writer.write(bytes, rows: rows)
            }
        }
        guard part.isLast else { return .taken }
        writers[part.job] = nil
        if part.compares { return .proved(writer.difference()) }
        guard writer.rows > 0 || part.keepsEmpty else {
            writer.discard()
            try folder.remove(part.path)
            return .removed
        }
        return try writer.finish(known: part.known)
    }

    /// Lists our own files by path; others are ignored.
    private func listAll(_ list: ListFiles, _ reply: (FileOutcome) -> Bool) throws(FileProblem) {
        try folder.open(making: list.makesFolder)
        var found: [String] = []
        let all = FileManager.default.enumerator(atPath: folder.path)
        while let path = all?.nextObject() as? String {
            let name = path.split(separator: "/").last ?? ""
            if FileWriter.isTemporary(name) {
                // Left by a killed process: no file is being written at this point.
                if writers.isEmpty, Self.isOurs(Self.target(of: path)) {
                    unlink(folder.path + "/" + path)
                }
            } else if FileSpan(path: path) != nil, folder.has(path) {
                found.append(path)
            }
            if found.count == Self.listedAtOnce {
                guard reply(.listed(found, isLast: false)) else { return }
                found = []
            }
        }
        _ = reply(.listed(found, isLast: true))
    }

    private static func isOurs(_ path: String) -> Bool {
        path == FilesStage.manifestName || FileSpan(path: path) != nil
    }

    /// What a temporary file was meant to become.
    private static func target(of path: String) -> String {
        var parts = path.split(separator: "/").map(String.init)
        guard let name = parts.popLast() else { return "" }
        return (parts + [String(name.dropFirst().dropLast(".part".count))]).joined(separator: "/")
    }
}
