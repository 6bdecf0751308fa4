import Configuration
import Foundation
import HealthModel
import Inspection
import Logging
import StageKit

/// `healthbus logs`: what the processes started by `up` have logged, merged by time; then, if requested, what they go
/// on to log.
package struct LogReport {
    /// Specifies which lines are wanted. Pure.
    package struct Filter: Sendable {
        package var since: String?
        package var minimum: Log.Level
        /// The wanted categories of events; empty for all.
        package var categories: Set<String>

        /// - Parameters:
        ///   - since: only lines from this time on.
        ///   - categories: only events in these, and no other lines; empty for everything.
        package init(since: Instant? = nil, minimum: Log.Level = .debug, categories: Set<String> = []) {
            self.since = since.map { Self.style.format(Date(timeIntervalSince1970: $0.secondsSince1970)) }
            (self.minimum, self.categories) = (minimum, categories)
        }

        private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

        /// A line that isn't an event has no level, so it matches any. It has no category either.
        package func wants(_ line: LogLine) -> Bool {
            (line.level.map { $0 >= minimum } ?? true) && since.map { line.time >= $0 } ?? true
                && (categories.isEmpty || categories.contains(line.category))
        }

        /// The part of an event's name before the full stop: `observer` of `observer.fired`.
        /// - Throws: `Failure` (usage) for a category that no event has, naming the nearest one.
        package static func categories(_ names: [String]) throws(Failure) -> Set<String> {
            for name in names where !allCategories.contains(name) {
                throw Failure.usage(
                    "no event has the category '\(name)'",
                    hint: Nearest.hint(for: name, among: allCategories, quoted: false))
            }
            return Set(names)
        }

        /// Every category that events have, sorted.
        package static var allCategories: [String] { Set(LogEvent.all.map(\.category)).sorted() }
    }

    private let logs: [(instance: String, path: String)]

    /// - Parameter names: names of instances, or "supervisor"; empty means all.
    /// - Throws: `Failure` (usage) that lists the existing ones.
    package init(_ stack: Stack, names: [String]) throws(Failure) {
        let known = stack.names + ["supervisor"]
        for name in names where !known.contains(name) {
            throw Failure.usage("this stack has no '\(name)'", hint: "choose from \(known.joined(separator: ", "))")
        }
        logs = (names.isEmpty ? known : names).map { ($0, stack.state.log($0)) }
    }

    /// Whether nothing has been written yet.
    package var isEmpty: Bool { !logs.contains { FileManager.default.fileExists(atPath: $0.path) } }

    /// Prints the lines in order; when following, continues until `print` returns false.
    /// - Parameter last: of the wanted lines that already exist, only this many are printed; nil for all.
    package func run(_ filter: Filter, last: Int? = nil, follows: Bool, print: (LogLine) -> Bool) throws {
        let watch = follows ? try LogWatch(logs.map(\.path)) : nil
        var merged = MergedLogs(logs, fromEnd: false)
        var kept = last.map { LastLines($0) }
        while true {
            watch?.arm()
            while let line = merged.next() {
                guard filter.wants(line) else { continue }
                if kept != nil { kept?.add(line) } else if !print(line) { return }
            }
            for line in kept?.lines ?? [] {
                if !print(line) { return }
            }
            kept = nil
            guard let watch else { return }
            watch.wait()
        }
    }
}
