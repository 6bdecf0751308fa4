import Foundation
import HealthModel
import Processes
import SQLite

/// Everything that a stopped stack ends up with, in lines that are equal if the content is equal. Versions, revisions
/// and sequence numbers are left out, because they depend on how the stack got there.
struct StackContent: Equatable, Sendable {
    /// The summaries printed by `healthbus days`.
    var days: [String]
    /// The observer's samples that aren't deleted: id, type, start, duration, value.
    var samples: [String]
    /// The backend's samples, with deleted ones marked.
    var delivered: [String]
    /// The backend's days, workouts and nights.
    var documents: [String]
    /// The number of (id, version) pairs that the backend counted as new more than once.
    var acceptedTwice: Int

    init(of stack: TestStack) async throws {
        let printed = try await stack.onState("days", "--json", "--from", "1990-01-01")
        guard printed.exit.isSuccess else { throw HarnessError("days: \(printed.error)") }
        days = (try printed.json().array ?? []).map(Self.plain)
        samples = try stack.heldSamples().sorted { $0.id < $1.id }
            .map { "\($0.id) \($0.type) \($0.start) \($0.duration) \($0.value)" }
        func has(_ column: String, _ table: String) throws -> Bool {
            let columns = "SELECT count(*) FROM pragma_table_info('\(table)') WHERE name = '\(column)'"
            return try stack.number("backend", columns) == 1
        }
        delivered = try stack.rows(
            "backend",
            try has("shift", "sample_rows")
                ? BackendRows.content
                : has("shift", "samples") ? BackendRows.contentOfSchema3 : BackendRows.contentBefore)
        documents = try stack.read("backend") { database in
            var lines: [String] = []
            try database.prepare("SELECT kind, id, deleted, body FROM documents ORDER BY kind, id").forEachRow { row in
                let body = row.isNull(3) ? "" : Self.plain(try Value(json: row.bytes(3)))
                lines.append("\(row.int(0)) \(row.string(1)) \(row.int(2)) \(body)")
            }
            return lines
        }
        acceptedTwice = try stack.number("backend", "SELECT count(*) FROM accepted WHERE count > 1")
    }

    /// If the description of a night changed while its samples were arriving, the backend gets a tombstone in case the
    /// earlier night had been delivered, which is random.
    var withoutTombstones: StackContent {
        var content = self
        content.documents = documents.filter { !$0.hasSuffix(" 1 ") }
        return content
    }

    /// Earlier releases stored no hours, and not which sources a night's minutes come from.
    var withoutAdditions: StackContent {
        get throws {
            var content = self
            content.documents = try documents.map { line in
                let parts = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
                guard parts.count == 4, !parts[3].isEmpty, var body = try Value(json: parts[3].utf8).object else {
                    return line
                }
                (body["hours"], body["sources"]) = (nil, nil)
                return parts[..<3].joined(separator: " ") + " " + Value.object(body).json()
            }
            return content
        }
    }

    private static func plain(_ document: Value) -> String {
        var members = document.object ?? [:]
        members["version"] = nil
        members["revision"] = nil
        return Value.object(members).json()
    }

    /// The differences from the expected content, with a few lines of each kind; empty if there are none.
    func differences(from expected: StackContent) -> [String] {
        var found: [String] = []
        for (name, these, those) in [
            ("days", days, expected.days), ("samples", samples, expected.samples),
            ("delivered", delivered, expected.delivered), ("documents", documents, expected.documents),
        ] where these != those {
            let missing = Set(those).subtracting(these).sorted()
            let invented = Set(these).subtracting(those).sorted()
            found.append("\(name): \(these.count) of \(those.count), \(missing.count) missing, \(invented.count) else")
            found += missing.prefix(3).map { "- \($0)" } + invented.prefix(3).map { "+ \($0)" }
        }
        if acceptedTwice != 0 { found.append("accepted twice: \(acceptedTwice)") }
        return found
    }
}

extension TestStack {
    /// Reads an instance's file, even while its writer is running.
    func read<Result>(_ instance: String, _ body: (Database) throws -> Result) throws -> Result {
        let path = "\(state)/\(instance)/state.sqlite"
        guard FileManager.default.fileExists(atPath: path) else { throw HarnessError("there is no \(path) yet") }
        // A stopped instance's write-ahead log may have to be applied, which writes to the file.
        let mode = try pid(of: instance) == nil ? Database.Mode.readWrite : .readOnly
        return try body(try Database(path: path, mode: mode))
    }

    /// The single column that a query returns.
    func rows(_ instance: String, _ query: String) throws -> [String] {
        try read(instance) { database in
            var lines: [String] = []
            try database.prepare(query).forEachRow { lines.append($0.string(0)) }
            return lines
        }
    }

    /// The single number that a query returns; 0 if there is none.
    func number(_ instance: String, _ query: String) throws -> Int {
        try read(instance) { try $0.prepare(query).firstRow { $0.int(0) } ?? 0 }
    }
}
