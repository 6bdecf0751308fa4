import Configuration
import Foundation
import Glibc
import HealthImport
import HealthModel
import Protocol
import StageKit
import Synchronization

/// The folder of files that the observer has taken over, and the thread that reads them.
package final class Inbox: EffectRunner {
    private let folder: String
    private let watcher = DropWatcher()
    /// Effects that make the observer stop reading.
    private let abandoned = Mutex<Set<Int64>>([])

    /// - Throws: `StateFolderError` when the folder can't be created.
    package init(folder: String) throws {
        self.folder = folder
        try StateFolder.make(folder)
    }

    func path(_ id: String) -> String { folder + "/" + id }

    package func perform(_ effect: Effect, reply: @escaping @Sendable (EffectResult) -> Bool) {
        if let request = effect.request as? RereadRequest {
            return start { _ = reply(EffectResult(id: effect.id, value: RereadReply(request))) }
        }
        guard let request = effect.request as? ObserverEffect else { return }
        let answer: @Sendable (ImportEvent) -> Bool = { reply(EffectResult(id: effect.id, value: $0)) }
        let report: @Sendable (FileStep) -> Void = { _ = reply(EffectResult(id: effect.id, value: $0)) }
        switch request {
        case .adopt(let id, let source, let file): start { [self] in report(adopt(id, from: source, file)) }
        case .measure(let id): start { [self] in report(measure(id)) }
        case .append(let id, let pieces): start { [self] in report(append(id, pieces)) }
        case .read(let id, let path, let known):
            start { [self] in
                read(path, file: self.path(id), known) { event in
                    !self.abandoned.withLock { $0.contains(effect.id) } && answer(event)
                }
                _ = abandoned.withLock { $0.remove(effect.id) }
            }
        case .abandon(let reading): _ = abandoned.withLock { $0.insert(reading) }
        case .watch(let folder):
            start { [watcher] in
                watcher.run(DropFolder(path: folder)) { reply(EffectResult(id: effect.id, value: $0)) }
            }
        case .settle(let settlement):
            start {
                _ = reply(EffectResult(id: effect.id, value: DropFolder(path: settlement.folder).settle(settlement)))
            }
        case .discard(.file(let id)):
            start { [self] in for name in [id, Self.half(id)] { unlink(path(name)) } }
        // Done at once: on a separate thread, this might remove files that were adopted after it was requested.
        case .discard(.everything(let kept)): discard(besides: kept)
        }
    }

    private func start(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = "inbox"
        thread.stackSize = 4 << 20
        thread.start()
    }

    /// A reader stops at its next event, which is no longer received.
    package func stop() { watcher.stop() }

    private func adopt(_ id: String, from source: String, _ file: FileIdentity?) -> FileStep {
        let target = path(id)
        let draft = target + ".part"
        let real = URL(fileURLWithPath: source).resolvingSymlinksInPath().path
        do {
            // A file that was adopted before a crash is in the inbox already.
            if FileManager.default.fileExists(atPath: target) { return .adopted(id: id) }
            var status = stat()
            guard access(real, R_OK) == 0, stat(real, &status) == 0 else {
                return .elsewhere(id: id, reason: ImportError.system(errno, path: source).description)
            }
            if let file, FileIdentity(status) != file {
                return .elsewhere(id: id, reason: "another file is at '\(source)' where the observer runs")
            }
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: real, isDirectory: &isFolder), isFolder.boolValue {
                throw ImportError.isDirectory(path: source)
            }
            if link(real, target) == 0 {
                try syncFolder()
                return .adopted(id: id)
            }
            // On a different file system, or if the file may not be linked: a copy, which gets its name only once
            // complete.
            unlink(draft)
            try FileManager.default.copyItem(atPath: real, toPath: draft)
            // The copy has the permissions of the original.
            guard chmod(draft, 0o600) == 0 else { throw ImportError.system(errno, path: draft) }
            guard rename(draft, target) == 0 else { throw ImportError.system(errno, path: target) }
            try syncFolder()
            return .adopted(id: id)
        } catch {
            unlink(draft)
            return .failed(id: id, reason: Self.describe(error))
        }
    }

    /// A new name is durable only once its folder is written.
    func syncFolder() throws {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ImportError.system(errno, path: folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw ImportError.system(errno, path: folder) }
    }

    private struct Stopped: Error {}

    /// Each piece waits until the stage has room for it.
    private func read(
        _ path: String, file: String, _ known: [PieceHash: Int], _ answer: @escaping (ImportEvent) -> Bool
    ) {
        do {
            let receiver: ExportReceiver = { guard answer(.found($0)) else { throw Stopped() } }
            let summary =
                try AutoExportFile(path: path, file: file)?.read(into: receiver)
                ?? ExportReader(path: path, file: file).read(into: receiver, known: known)
            _ = answer(.finished(summary))
        } catch is Stopped {
            return
        } catch {
            _ = answer(.unreadable(reason: Self.describe(error)))
        }
    }

    private func discard(besides kept: Set<String>) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where !kept.contains(name) {
            unlink(path(name))
        }
    }

    static func describe(_ error: any Error) -> String {
        if let error = error as? ImportError { return error.description }
        if let error = error as? InboxError { return error.description }
        return (error as NSError).localizedDescription
    }
}
