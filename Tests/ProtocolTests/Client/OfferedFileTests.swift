import Client
import Foundation
import Glibc
import HealthModel
import Protocol
import TestSupport
import Testing

/// The parts of a file that a command sends to an observer, which requests them in any order.
@Suite struct OfferedFileTests {
    private let data = Data((0..<700_001).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 8)) })

    private func withFile<Result>(_ body: (String) throws -> Result) throws -> Result {
        let path = FileManager.default.temporaryDirectory.path + "/healthbus-\(UUID().uuidString)"
        try data.write(to: URL(fileURLWithPath: path))
        defer { unlink(path) }
        return try body(path)
    }

    private func ask(_ file: OfferedFile, _ offset: Int) throws -> (bytes: Data, last: [String: Value]) {
        let pages = try file.answer(from: Int64(offset)).get().map { Value($0).object ?? [:] }
        var bytes = Data()
        for page in pages {
            #expect(page["offset"]?.int == Int64(offset + bytes.count))
            let piece = try #require(page["bytes"]?.bytes)
            #expect(piece.count <= 60 << 10)
            bytes += piece
        }
        return (bytes, try #require(pages.last))
    }

    private func readAll(_ file: OfferedFile, from start: Int = 0) throws -> (Data, last: [String: Value]) {
        var all = Data()
        while true {
            let (bytes, last) = try ask(file, start + all.count)
            all += bytes
            if last["hash"] != nil { return (all, last) }
            try #require(!bytes.isEmpty)
        }
    }

    private var hash: Value {
        let hash = ContentHash()
        hash.add(Array(data))
        return .bytes(hash.value)
    }

    @Test func theHashIsOfTheWholeWhereverOneBegins() throws {
        try withFile { path in
            for start in [0, 1, 300_000, 700_000, 700_001] {
                let file = try OfferedFile(path)
                #expect(file.identity?.size == 700_001)
                let (bytes, last) = try readAll(file, from: start)
                #expect(bytes == data.dropFirst(start))
                #expect(last["hash"] == hash && last["size"] == 700_001)
                // A repeated request gets the same answer.
                let (again, end) = try readAll(file, from: 500_000)
                #expect(again == data.dropFirst(500_000) && end["hash"] == hash)
            }
        }
    }

    @Test func whatChangesMeanwhileIsRefused() throws {
        try withFile { path in
            let file = try OfferedFile(path)
            _ = try ask(file, 0)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data([1]))
            try handle.close()
            #expect(throws: PullRefusal.self) { try readAll(file) }
        }
    }

    /// From a pipe, the most recent pieces can be requested again, but no earlier ones.
    @Test func aPipeKeepsWhatMayBeAskedForAgain() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (output, data) = (ends[1], data)
        let writer = Thread {
            data.withUnsafeBytes { bytes in
                var written = 0
                while written < bytes.count {
                    let count = write(
                        output, bytes.baseAddress.map { $0 + written }, min(10_000, bytes.count - written))
                    guard count > 0 else { break }
                    written += count
                }
            }
            close(output)
        }
        writer.start()
        let file = try OfferedFile("/proc/self/fd/\(ends[0])")
        close(ends[0])
        #expect(file.identity == nil)
        let (first, _) = try ask(file, 0)
        #expect(!first.isEmpty && first == data.prefix(first.count))
        let (again, _) = try ask(file, 0)
        #expect(again.prefix(first.count) == first)
        let (rest, last) = try readAll(file, from: first.count)
        #expect(rest == data.dropFirst(first.count))
        #expect(last["hash"] == hash && last["size"] == 700_001)
        _ = try ask(file, 700_001)
        #expect(try readAll(file, from: 700_001 - 240_000).0 == data.suffix(240_000))
        #expect(throws: PullRefusal.self) { try ask(file, 0) }
    }

    /// A command that shows the progress goes on while its input pauses.
    @Test func aPipeThatPausesDoesNotHoldUpItsProgress() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let file = try OfferedFile("/proc/self/fd/\(ends[0])")
        close(ends[0])
        try #require(write(ends[1], "0123456789", 10) == 10)
        #expect(try ask(file, 0).bytes.count == 10)
        let (answered, seen) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread {
            _ = file.answer(from: 10)
            answered.signal()
        }
        .start()
        Thread {
            while file.progress.bytes < 10 { sched_yield() }
            seen.signal()
        }
        .start()
        #expect(seen.wait(timeout: .now() + Patience.seconds) == .success)
        close(ends[1])
        #expect(answered.wait(timeout: .now() + Patience.seconds) == .success)
    }

    @Test func nothingAndFolders() throws {
        #expect(throws: (any Error).self) { try OfferedFile("/nowhere/at-all") }
        #expect(throws: (any Error).self) { try OfferedFile("/tmp") }
        let empty = try OfferedFile("/dev/null")
        let (bytes, last) = try ask(empty, 0)
        #expect(bytes.isEmpty && last["size"] == 0)
    }
}
