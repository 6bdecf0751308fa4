import Foundation
import Glibc

/// Structured, named events of one process, one per line, on standard error.
///
///     2026-02-03T04:05:06.789Z debug observer observer observer.fired type=HKWorkoutTypeIdentifier locked=false
///
/// With `HEALTHBUS_LOG=json`, each line is a JSON object. A line is written with one write(2), so lines from several
/// threads and processes don't mix. **Health values, and names that a person chose, are never logged**; types, counts,
/// sequence numbers, durations and errors are.
package struct Log: Sendable {
    package enum Level: String, Sendable, Comparable, CaseIterable {
        case debug, info, notice, warning, error

        package static func < (a: Level, b: Level) -> Bool { a.rank < b.rank }

        private var rank: Int {
            switch self {
            case .debug: 0
            case .info: 1
            case .notice: 2
            case .warning: 3
            case .error: 4
            }
        }
    }

    package enum Format: String, Sendable, CaseIterable { case text, json }

    package let plugin: String
    package let levels: LogLevels
    package let format: Format
    let now: @Sendable () -> Date
    private let write: @Sendable (String) -> Void

    package init(
        plugin: String, levels: LogLevels = LogLevels(), format: Format = .text,
        now: @escaping @Sendable () -> Date = { Date() },
        write: @escaping @Sendable (String) -> Void = { StandardStream.error.write($0) }
    ) {
        (self.plugin, self.levels, self.format, self.now, self.write) = (plugin, levels, format, now, write)
    }

    /// Configured by the environment: `HEALTHBUS_LOG_LEVEL` (default: info) and `HEALTHBUS_LOG` (default: text).
    ///
    /// - Throws: `Failure` (usage) that lists the allowed values.
    package init(
        plugin: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(Failure) {
        let variable = "HEALTHBUS_LOG_LEVEL"
        let text = environment[variable] ?? ""
        self.init(
            plugin: plugin, levels: text.isEmpty ? LogLevels() : try LogLevels(text, variable: variable),
            format: try Self.choice("HEALTHBUS_LOG", in: environment, default: .text))
    }

    /// The same log, with its lines passed to `write` instead.
    package func writing(to write: @escaping @Sendable (String) -> Void) -> Log {
        Log(plugin: plugin, levels: levels, format: format, now: now, write: write)
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, in environment: [String: String], default fallback: Choice
    ) throws(Failure) -> Choice where Choice.RawValue == String {
        guard let text = environment[name], !text.isEmpty else { return fallback }
        if let choice = Choice(rawValue: text) { return choice }
        let all = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        throw .usage("\(name) can't be \"\(text)\"", hint: "choose from \(all)")
    }

    /// - Parameters:
    ///   - failed: whether to write the event at its level for failures.
    ///   - fields: in order; evaluated only if the event is to be written.
    package func callAsFunction(
        _ event: LogEvent, failed: Bool = false, _ fields: @autoclosure () -> LogFields = [:]
    ) {
        guard levels.wants(event, failed: failed) else { return }
        let level = event.level(failed: failed)
        let fields = fields().map { ($0.key, $0.value.logValue) }
        let line =
            switch format {
            case .text: textLine(event.name, event.category, level, fields)
            case .json: jsonLine(event.name, event.category, level, fields)
            }
        write(line)
    }
}
