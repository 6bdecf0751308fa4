import Foundation
import SQLite
import TestSupport
import Testing

/// The disk of the simulation fails as real ones do.
@Suite struct FaultyDiskTests {
    private let folder: TemporaryFolder
    private let disk: FaultyDisk
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        disk = try FaultyDisk(folder: folder.path)
        path = folder.path + "/store.sqlite"
    }

    /// Commits numbers one by one until one fails; ends without a trace.
    /// - Returns: how many were committed.
    @discardableResult
    private func commit(_ numbers: ClosedRange<Int>) throws -> Int {
        var database: Database? = try Database(path: path)
        try database?.execute("CREATE TABLE IF NOT EXISTS numbers(number INTEGER PRIMARY KEY, text)")
        var count = 0
        for number in numbers {
            do {
                try database?.execute("INSERT INTO numbers VALUES (\(number), hex(zeroblob(\(number * 300))))")
            } catch is SQLiteError { break }
            count += 1
        }
        disk.kill(path) { database = nil }
        return count
    }

    private func numbers() throws -> [Int64] {
        let database = try Database(path: path)
        #expect(try database.damage() == nil)
        var found: [Int64] = []
        try database.prepare("SELECT number FROM numbers ORDER BY number").forEachRow { found.append($0.int64(0)) }
        return found
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>) func whatIsCommittedOutlivesAPowerLoss(_ seed: UInt64) throws {
        try commit(1...30)
        #expect(!disk.losePower(path, seed: seed))
        #expect(try numbers() == Array(1...30))
    }

    @Test func aDiskThatLiesLosesTheLastCommits() throws {
        try commit(1...10)
        var lost: Set<Int> = []
        for seed in 1...20 as ClosedRange<UInt64> {
            let before = try numbers().count
            disk.lie(about: path)
            try commit((before + 1)...(before + 10))
            let isLost = disk.losePower(path, seed: seed)
            let after = try numbers()
            #expect(after == Array(1...Int64(after.count)) && after.count >= before, "it is as it was at some moment")
            #expect(isLost || after.count == before + 10)
            lost.insert(before + 10 - after.count)
        }
        #expect(lost.count > 3, "\(lost)")
    }

    @Test(arguments: FaultyDisk.Failure.allCases) func whatFailsIsNotCommitted(_ failure: FaultyDisk.Failure) throws {
        try commit(1...10)
        disk.fail(path, failure, after: failure == .read ? 0 : 8, times: -1)
        let count = failure == .read ? 0 : try commit(11...30)
        if failure == .read { #expect(throws: SQLiteError.self) { try Database(path: path).damage() } }
        #expect(count < 20)
        disk.heal(path)
        let found = try numbers()
        #expect(found == Array(1...Int64(found.count)) && found.count >= 10 + count)
    }

    @Test func otherFoldersAreLeftAlone() throws {
        let other = try TemporaryFolder()
        let database = try Database(path: other.path + "/other.sqlite")
        disk.fail(other.path + "/other.sqlite", .write, after: 0, times: -1)
        try database.execute("CREATE TABLE numbers(number INTEGER PRIMARY KEY)")
        #expect(try database.damage() == nil)
    }
}
