import Configuration
import Foundation
import HealthModel
import Logging
import SQLite

/// `healthbus query`: a person's SELECT on the reference backend's file, which any SQLite tool can also open.
package struct BackendQuery {
    private let query: GuestQuery

    /// Why the backend may hold nothing; nil if something is delivered to it.
    package let note: String?

    package var columns: [String] { query.columns }

    /// - Parameters:
    ///   - name: the backend's instance; nil for the only one.
    ///   - clock: seconds since some fixed moment.
    /// - Throws: `Failure` that says what to do.
    package init(
        _ sql: String, _ stack: Stack, backend name: String?, seconds: Double, clock: @escaping () -> Double
    ) throws {
        let backend = try Self.backend(stack, name)
        let path = try Self.file(stack, backend)
        note = UnfedBackend(backend, in: stack.configuration).map {
            "nothing is delivered to '\(backend.name)': \($0.elsewhere); \(UnfedBackend.remedy)"
        }
        do {
            query = try GuestQuery(sql, path: path, seconds: seconds, clock: clock)
        } catch let refusal as GuestQuery.Refusal {
            throw Self.failure(refusal, seconds)
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
        let urls = stack.destinations.compactMap { $0.configuration["url"].string }
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

    private static func failure(_ refusal: GuestQuery.Refusal, _ seconds: Double) -> Failure {
        switch refusal {
        case .empty:
            .usage("there is no statement", hint: "give one, as in healthbus query 'SELECT date, steps FROM days'")
        case .several: .usage("there are several statements", hint: "give one SELECT")
        case .notReading:
            .usage("queries only read", hint: "give one SELECT; ATTACH, PRAGMA and whatever writes is refused")
        case .tooLong:
            Failure(
                "the query took longer than \(Int(seconds)) s", hint: "ask for less, or allow more with --seconds")
        case .wrong(let why) where why.hasPrefix("cannot modify"):
            .usage("queries only read, and \(why)", hint: "give one SELECT; whatever writes is refused")
        case .wrong(let why) where why.hasPrefix("no such table"):
            .usage(why, hint: "the views are samples, days, hours, nights, workouts and sources")
        case .wrong(let why): .usage(why, hint: "docs/queries.md lists the views and their columns")
        }
    }

    package func write(to output: RowOutput, seconds: Double) throws {
        do {
            try query.forEachRow { cells in
                for cell in cells {
                    switch cell {
                    case .null: output.null()
                    case .integer(let number): output.integer(number)
                    case .real(let number): output.number(number)
                    case .text(let text): output.text(text)
                    case .blob(let bytes): output.text(bytes.map { byte in Self.hex(byte) }.joined())
                    }
                }
                try output.endRow()
            }
        } catch let refusal as GuestQuery.Refusal {
            throw Self.failure(refusal, seconds)
        }
        try output.finish()
    }

    private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}
