import FilesStage
import Foundation
import HealthModel
import TestSupport
import Testing

/// Whatever happens, the disk contains complete files in their proper places, and nothing else.
@Suite struct FilesWorkTests {
    private let path = "user=me/samples/type=A/month=2025-03.csv"

    private func withTemporaryFolder(_ body: (String) throws -> Void) throws {
        let folder = try TemporaryFolder()
        try withExtendedLifetime(folder) { try body(folder.path) }
    }

    private func outcomes(_ work: FilesWork, _ request: any Sendable) -> [FileOutcome] {
        var found: [FileOutcome] = []
        work.perform(request) { outcome in
            found.append(outcome)
            return true
        }
        return found
    }

    private func part(
        _ text: String, rows: Int64 = 1, job: Int64 = 1, first: Bool = true, last: Bool = true,
        known: FileLedger.Entry? = nil, makes: Bool = true
    ) -> FilePart {
        FilePart(
            job: job, path: path, head: first ? Array("head\n".utf8) : [],
            content: .bytes(Array(text.utf8), rows: rows),
            isFirst: first, isLast: last, known: known, makesFolder: makes)
    }

    private func problem(_ found: [FileOutcome]) -> String? {
        if case .failed(let problem)? = found.last { problem.description } else { nil }
    }

    private func written(_ found: [FileOutcome]) -> (entry: FileLedger.Entry, isChanged: Bool)? {
        guard case .written(let rows, let bytes, let sum, let isChanged)? = found.last else { return nil }
        return (FileLedger.Entry(path: path, rows: rows, bytes: bytes, sum: sum, written: .epoch), isChanged)
    }

    /// Everything in a folder, hidden files included.
    private func files(in folder: String) -> Set<String> {
        let all = FileManager.default.enumerator(atPath: folder)
        var found: Set<String> = []
        while let path = all?.nextObject() as? String {
            if all?.fileAttributes?[.type] as? FileAttributeType == .typeRegular { found.insert(path) }
        }
        return found
    }

    @Test func aFileTakesItsPlaceWhenItIsWhole() throws {
        try withTemporaryFolder { folder in
            let work = FilesWork(folder: folder + "/new/data")
            guard case .taken? = outcomes(work, part("a\n", last: false)).last else { throw Unexpected() }
            #expect(!FileManager.default.fileExists(atPath: folder + "/new/data/" + path), "it isn't whole yet")
            let done = try #require(written(outcomes(work, part("b\n", first: false))))
            #expect(try String(contentsOfFile: folder + "/new/data/" + path, encoding: .utf8) == "head\na\nb\n")
            #expect(done.entry.rows == 2 && done.entry.bytes == 9 && done.isChanged)
            // As `printf 'head\na\nb\n' | sha256sum` prints it.
            #expect(done.entry.sum == "6428e59b60c705bb86a455ce1266ec6a027f497815bf26ae20a2e0b2aec132de")
            #expect(files(in: folder) == ["new/data/" + path], "nothing is left beside it")
            let rights = try FileManager.default.attributesOfItem(atPath: folder + "/new/data/" + path)[
                .posixPermissions]
            #expect(rights as? Int == 0o600)
            let ofFolder = try FileManager.default.attributesOfItem(atPath: folder + "/new/data")[.posixPermissions]
            #expect(ofFolder as? Int == 0o700)
        }
    }

    @Test func whatIsComparedIsntWritten() throws {
        try withTemporaryFolder { folder in
            let work = FilesWork(folder: folder + "/data")
            func compare(_ text: String, rows: Int64 = 1) throws -> FileDifference? {
                var whole = part(text, rows: rows, job: 2)
                whole.compares = true
                guard case .proved(let difference)? = outcomes(work, whole).last else { throw Unexpected() }
                return difference
            }
            #expect(try compare("a\n") == .missing)
            #expect(try compare("", rows: 0) == nil)
            _ = try #require(written(outcomes(work, part("a\n"))))
            let before = files(in: folder)
            #expect(try compare("a\n") == nil)
            #expect(try compare("b\n") == .different)
            #expect(try compare("a\nb\n", rows: 2) == .different)
            #expect(try compare("", rows: 0) == .superfluous)
            #expect(files(in: folder) == before)
            #expect(try String(contentsOfFile: folder + "/data/" + path, encoding: .utf8) == "head\na\n")
        }
    }

    @Test func theSameAgainIsLeftAlone() throws {
        try withTemporaryFolder { folder in
            let work = FilesWork(folder: folder)
            let first = try #require(written(outcomes(work, part("a\n"))))
            let node = try FileManager.default.attributesOfItem(atPath: folder + "/" + path)[.systemFileNumber] as? Int
            let again = try #require(written(outcomes(work, part("a\n", known: first.entry))))
            #expect(!again.isChanged && again.entry.sum == first.entry.sum)
            let after = try FileManager.default.attributesOfItem(atPath: folder + "/" + path)[.systemFileNumber] as? Int
            #expect(node != nil && node == after)
            #expect(try #require(written(outcomes(work, part("b\n", known: first.entry)))).isChanged)
            #expect(files(in: folder) == [path])
        }
    }

    @Test func withoutRowsThereIsNoFile() throws {
        try withTemporaryFolder { folder in
            let work = FilesWork(folder: folder)
            _ = outcomes(work, part("a\n"))
            guard case .removed? = outcomes(work, part("", rows: 0)).last else { throw Unexpected() }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [], "its folders go too")
        }
    }

    @Test func whatIsChangedOrGoneIsFound() throws {
        try withTemporaryFolder { folder in
            let work = FilesWork(folder: folder)
            let entry = try #require(written(outcomes(work, part("a\n")))).entry
            func differing(readsAll: Bool) -> [String] {
                let found = outcomes(work, CompareFiles(entries: [entry], readsAll: readsAll))
                if case .compared(let paths)? = found.last { return paths } else { return ["?"] }
            }
            #expect(differing(readsAll: true) == [])
            try Data("head\nX\n".utf8).write(to: URL(fileURLWithPath: folder + "/" + path))
            #expect(differing(readsAll: false) == [], "of the same size")
            #expect(differing(readsAll: true) == [path])
            try Data("head\n".utf8).write(to: URL(fileURLWithPath: folder + "/" + path))
            #expect(differing(readsAll: false) == [path])
            try FileManager.default.removeItem(atPath: folder + "/" + path)
            #expect(differing(readsAll: false) == [path])
        }
    }

    @Test func whatAKilledProcessLeftIsRemovedAndOthersFilesStay() throws {
        try withTemporaryFolder { folder in
            let entry = written(outcomes(FilesWork(folder: folder), part("a\n")))
            #expect(entry != nil)
            let left = folder + "/user=me/samples/type=A/.month=2025-04.csv.part"
            for other in [left, folder + "/.notes.part", folder + "/notes.csv", folder + "/.manifest.json.part"] {
                try Data("x".utf8).write(to: URL(fileURLWithPath: other))
            }
            let found = outcomes(FilesWork(folder: folder), ListFiles(makesFolder: true))
            guard case .listed(let paths, true)? = found.last else { throw Unexpected() }
            #expect(paths == [path])
            #expect(files(in: folder) == [path, ".notes.part", "notes.csv"])
        }
    }

    /// A folder in the place of a file isn't ours: it stays, and only that file can't be written.
    @Test func aFolderInPlaceOfAFileIsSaid() throws {
        try withTemporaryFolder { folder in
            let inner = folder + "/" + path
            try FileManager.default.createDirectory(atPath: inner + "/own", withIntermediateDirectories: true)
            let work = FilesWork(folder: folder)
            guard case .listed([], true)? = outcomes(work, ListFiles(makesFolder: false)).last else {
                throw Unexpected()
            }
            guard case .removed? = outcomes(work, part("", rows: 0)).last else { throw Unexpected() }
            guard case .failed(let problem)? = outcomes(work, part("a\n")).last else { throw Unexpected() }
            #expect(problem.isOfOneFile && problem.description.hasPrefix(inner + " can't be written"))
            #expect(FileManager.default.fileExists(atPath: inner + "/own"))
            // A file in the place of a folder.
            try FileManager.default.removeItem(atPath: folder + "/user=me")
            try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/user=me"))
            guard case .failed(let other)? = outcomes(work, part("a\n")).last else { throw Unexpected() }
            #expect(other.isOfOneFile)
        }
    }

    @Test func aFolderHasOneWriter() throws {
        try withTemporaryFolder { folder in
            let first = FilesWork(folder: folder)
            #expect(written(outcomes(first, part("a\n"))) != nil)
            let why = problem(outcomes(FilesWork(folder: folder), part("b\n")))
            #expect(why?.contains("another process writes to \(folder)") == true, "\(why ?? "")")
            #expect(written(outcomes(first, part("c\n"))) != nil)
        }
    }

    @Test func aFolderThatIsGoneIsntMadeAgain() throws {
        try withTemporaryFolder { folder in
            let gone = folder + "/disk"
            let work = FilesWork(folder: gone)
            #expect(written(outcomes(work, part("a\n"))) != nil)
            try FileManager.default.moveItem(atPath: gone, toPath: folder + "/elsewhere")
            let why = problem(outcomes(work, part("b\n", makes: false)))
            #expect(why == "\(gone) is gone; mount its disk, or have everything written again: mkdir -m 700 '\(gone)'")
            #expect(!FileManager.default.fileExists(atPath: gone))
            try FileManager.default.moveItem(atPath: folder + "/elsewhere", toPath: gone)
            #expect(written(outcomes(work, part("b\n", makes: false))) != nil, "it goes on by itself")
        }
    }

    private struct Unexpected: Error {}
}
