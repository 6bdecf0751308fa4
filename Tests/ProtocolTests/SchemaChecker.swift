import Foundation
import Protocol
import TestSupport
import Testing

/// Checks CBOR against `docs/protocol.cddl` with pycddl, a CDDL validator maintained by others: one of our own would
/// share our mistakes.
///
/// `make test` installs it into `.build/python/Schema`; without it the tests that need it are skipped.
enum SchemaChecker {
    static let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    private static let python = checkout + "/.build/python/Schema/bin/python"

    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: python) }

    struct Item: Hashable {
        var rule: String
        var bytes: [UInt8]
    }

    /// What is wrong with each item; nil for a valid one.
    static func check(_ items: [Item]) throws -> [String?] {
        let folder = try TemporaryFolder()
        let requests = folder.path + "/requests"
        let text = items.map { "\($0.rule) \(hex($0.bytes))\n" }.joined()
        try text.write(toFile: requests, atomically: false, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [checkout + "/Tests/Schema/check.py", checkout + "/docs/protocol.cddl"]
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: requests))
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let answers = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "the schema's checker fails; the reason is above")
        let lines = answers.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        try #require(lines.count == items.count)
        return lines.map { $0 == "ok" ? nil : String($0) }
    }

    /// What is wrong with one value; nil if nothing is.
    static func check(_ rule: String, _ bytes: [UInt8]) throws -> String? {
        try check([Item(rule: rule, bytes: bytes)]).first ?? nil
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
