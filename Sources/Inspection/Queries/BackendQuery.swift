import BackendReading
import Configuration
import Foundation
import HealthModel
import Logging
import Processes
import SQLite
import Terminal

/// `healthbus query`: a person's SELECT on the reference backend's file, which any SQLite tool can also open. It runs
/// in a process of its own, whose memory is limited here and whose time is limited by its parent.
package struct BackendQuery {
    private let query: GuestQuery

    /// Why the backend may hold nothing; nil if something is delivered to it.
    package let note: String?

    package var columns: [String] { query.columns }

    /// How much memory the process of a query gets: twice what it needs to sort ten years of samples.
    private static let memory = min(2 << 30, Int(ProcessInfo.processInfo.physicalMemory / 2))

    /// Limits the memory of this process for the rest of its life.
    package static func limitMemory() throws { try OwnLimits.set(memory: memory) }

    /// - Parameter name: the backend's instance; nil for the only one.
    /// - Throws: `Failure` that says what to do.
    package init(_ sql: String, _ stack: Stack, backend name: String?) throws {
        let backend = try Self.backend(stack, name)
        let path = try Self.file(stack, backend)
        note = UnfedBackend(backend, in: stack.configuration).map {
            "nothing is delivered to '\(backend.name)': \($0.elsewhere); \(UnfedBackend.remedy)"
        }
        do { query = try GuestQuery(sql, path: path, prepare: SampleRows.add) } catch let refusal as GuestQuery.Refusal
        {
            throw Self.failure(refusal)
        }
    }

    private static func backend(_ stack: Stack, _ name: String?) throws -> StackConfiguration.Instance {
        let backends = stack.configuration.instances.filter { $0.manifest.kind == .backend }
        guard let backend = name.map({ name in backends.first { $0.name == name } }) ?? backends.first else {
            throw name.map {
                Failure.usage(
                    "there is no backend '\($0)'", hint: "choose from \(backends.map(\.name).joined(separator: ", "))")
            }
                ?? Failure(
                    "queries need a reference backend, and this stack has none",
                    hint: hint(stack))
        }
        guard name != nil || backends.count < 2 else {
            throw Failure.usage(
                "there are \(backends.count) backends",
                hint: "name one with --backend: \(backends.map(\.name).joined(separator: ", "))")
        }
        return backend
    }

    /// A backend gets data only if an uploader delivers to it.
    private static func hint(_ stack: Stack) -> String {
        let add = "{\"instances\": {\"backend\": {\"plugin\": \"backend\"}"
        let urls = stack.configuration.deliveringToBackends.compactMap(\.address)
        guard !urls.isEmpty else { return "add one: \(add)}} in the configuration" }
        return "it delivers to \(urls.joined(separator: ", ")): ask there, or here with 'healthbus days' and "
            + "'healthbus samples'; or add \(add), \"local\": {\"plugin\": \"uploader\"}}} to the configuration"
    }

    private static func file(_ stack: Stack, _ backend: StackConfiguration.Instance) throws -> String {
        let path = stack.state.database(backend.name)
        guard FileManager.default.fileExists(atPath: path) else {
            throw Failure(
                "there is no file of '\(backend.name)' in \(stack.place)",
                hint: "start the stack with 'healthbus up', or run the query on the machine with its state folder")
        }
        return path
    }

    /// - Parameter limit: how long the query was allowed to take.
    package static func tookTooLong(_ limit: Duration) -> Failure {
        Failure(
            "the query took longer than \(limit.components.seconds) s and was ended",
            hint: "ask for less, or allow more with --seconds")
    }

    /// - Parameter signal: what ended the query's process; nil if it could still report its end.
    package static func tooLarge(endedBy signal: ProcessExit? = nil) -> Failure {
        let need = "more than \(HumanFormat.bytes(memory)) of memory"
        return Failure(
            signal.map { "the query was ended by \($0), as happens when it needs \(need)" }
                ?? "the query needs \(need)",
            hint: "ask for fewer rows or columns, or for shorter values: a sort holds all its rows")
    }

    /// For a command line without a statement.
    package static let empty = Failure.usage(
        "there is no statement",
        hint: "give one, as in healthbus query 'SELECT date, steps FROM days'; --tables lists what there is")

    private static func failure(_ refusal: GuestQuery.Refusal) -> Failure {
        switch refusal {
        case .empty: empty
        case .several: .usage("there are several statements", hint: "give one SELECT")
        case .notReading:
            .usage("queries only read", hint: "give one SELECT; ATTACH, PRAGMA and whatever writes is refused")
        case .tooLarge: tooLarge()
        case .wrong(let why) where why.hasPrefix("cannot modify"):
            .usage("queries only read, and \(why)", hint: "give one SELECT; whatever writes is refused")
        case .wrong(let why) where why.hasPrefix("no such table"):
            .usage(why, hint: "the views are samples, days, hours, nights, workouts and sources")
        case .wrong(let why) where why.hasPrefix("string or blob too big"):
            .usage("a value is too long: \(why)", hint: "ask for a shorter one")
        case .wrong(let why): .usage(why, hint: "'healthbus query --tables' lists the views and their columns")
        }
    }

    package func write(to output: RowOutput) throws {
        do {
            try query.forEachRow { cells in
                for cell in cells {
                    switch cell {
                    case .null: output.null()
                    case .integer(let number): output.integer(number)
                    case .real(let number): output.number(number)
                    case .text(let text): output.text(text)
                    case .blob(let bytes): output.text(bytes.hexadecimal)
                    }
                }
                try output.endRow()
            }
        } catch let refusal as GuestQuery.Refusal {
            throw Self.failure(refusal)
        }
        try output.finish()
    }
}
