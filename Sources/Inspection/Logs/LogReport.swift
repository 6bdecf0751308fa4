import Configuration
import Foundation
import HealthModel
import Logging

/// `healthbus logs`: what the processes started by `up` have logged, merged by time; then, if requested, what they go
/// on to log.
package struct LogReport {
    /// Which lines are wanted. Pure.
    package struct Filter: Sendable {
        package var since: String?
        package var minimum: Log.Level

        /// - Parameter since: only lines from then on.
        package init(since: Instant? = nil, minimum: Log.Level = .debug) {
            self.since = since.map { Self.style.format(Date(timeIntervalSince1970: $0.secondsSince1970)) }
            self.minimum = minimum
        }

        private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

        /// A line that isn't an event is wanted at any level: it has none.
        package func wants(_ line: LogLine) -> Bool {
            (line.level.map { $0 >= minimum } ?? true) && since.map { line.time >= $0 } ?? true
        }
    }

    private let logs: [(instance: String, path: String)]

    /// - Parameter names: of instances, or "supervisor"; empty means all.
    /// - Throws: `Failure` (usage) that lists the existing ones.
    package init(_ stack: Stack, names: [String]) throws(Failure) {
        let known = stack.names + ["supervisor"]
        for name in names where !known.contains(name) {
            throw Failure.usage("this stack has no '\(name)'", hint: "there are: \(known.joined(separator: ", "))")
        }
        logs = (names.isEmpty ? known : names).map { ($0, stack.state.log($0)) }
    }

    /// Whether anything has been written at all.
    package var isEmpty: Bool { !logs.contains { FileManager.default.fileExists(atPath: $0.path) } }

    /// Prints the lines in order; when following, until `print` returns false.
    package func run(_ filter: Filter, follows: Bool, print: (LogLine) -> Bool) throws {
        let watch = follows ? try LogWatch(logs.map(\.path)) : nil
        var merged = MergedLogs(logs, fromEnd: false)
        while true {
            watch?.arm()
            while let line = merged.next() {
                if filter.wants(line), !print(line) { return }
            }
            guard let watch else { return }
            watch.wait()
        }
    }
}
