import Changelog
import Foundation
import Glibc
import HealthModel
import SQLite
import TestSupport
import Testing

/// A file that was truncated, emptied or overwritten is detected when it is opened, and is left unchanged.
@Suite struct DamagedFileTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/state.sqlite" }
    private static let now: Instant = 1_743_000_000_000_000

    init() throws { folder = try TemporaryFolder() }

    /// A closed store of a few hundred pages.
    private func fill() throws {
        let store = try StageDatabase(path: path)
        try store.transaction {
            try store.database.execute(
                """
                CREATE TABLE notes(text BLOB);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                INSERT INTO notes SELECT zeroblob(3000) FROM n
                """)
        }
    }

    private func expectDamaged(_ words: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let before = FileManager.default.contents(atPath: path)
        let error = #expect(throws: SQLiteError.self, sourceLocation: sourceLocation) {
            try StageDatabase(path: path)
        }
        #expect(error?.isCorrupt == true && error?.message.contains(words) == true, "\(String(describing: error))")
        #expect(FileManager.default.contents(atPath: path) == before, sourceLocation: sourceLocation)
    }

    @Test func cutOff() throws {
        try fill()
        let size = try #require(FileManager.default.contents(atPath: path)).count
        _ = try StageDatabase(path: path)
        for length in [size - 4096, size / 2, 4096, 50] {
            #expect(truncate(path, off_t(length)) == 0)
            try expectDamaged("cut off")
        }
        #expect(truncate(path, 0) == 0)
        try expectDamaged("empty")
    }

    @Test func overwritten() throws {
        try fill()
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.write(contentsOf: Data(repeating: 7, count: 4096))
        try handle.close()
        try expectDamaged("isn't an SQLite database")
    }

    /// Rows in the write-ahead log of an owner that was killed count as present; a log without its main file is an
    /// error.
    @Test func aLogHoldsWhatTheFileLacks() throws {
        try fill()
        let writer = try StageDatabase(path: path)
        try writer.database.execute("PRAGMA wal_autocheckpoint=0")
        try writer.transaction {
            try writer.database.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
                INSERT INTO notes SELECT zeroblob(3000) FROM n
                """)
        }
        // As after a kill, the log is there, but it ends in garbage.
        let copy = folder.path + "/killed.sqlite"
        for ending in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + ending, toPath: copy + ending) }
        let handle = try #require(FileHandle(forWritingAtPath: copy + "-wal"))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(repeating: 3, count: 5000))
        try handle.close()
        let restored = try StageDatabase(path: copy)
        #expect(try restored.database.prepare("SELECT count(*) FROM notes").firstRow { $0.int(0) } == 400)
        // If the main file is truncated, the log is no help, since it holds only the latest writes.
        let cut = folder.path + "/cut.sqlite"
        for ending in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + ending, toPath: cut + ending) }
        #expect(truncate(cut, 40960) == 0)
        let error = #expect(throws: SQLiteError.self) { try StageDatabase(path: cut) }
        #expect(error?.message.contains("cut off") == true, "\(String(describing: error))")
        unlink(cut)
        let alone = #expect(throws: SQLiteError.self) { try StageDatabase(path: cut) }
        #expect(alone?.message.contains("though its log exists") == true, "\(String(describing: alone))")
        #expect(!FileManager.default.fileExists(atPath: cut))
    }

    /// If the creation of a file is interrupted by a kill, it starts over.
    @Test func whatWasHalfMadeIsMadeAgain() throws {
        _ = FileManager.default.createFile(atPath: path + ".new", contents: Data(count: 100))
        let store = try StageDatabase(path: path)
        #expect(store.sequence > 0)
        #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    }
}
