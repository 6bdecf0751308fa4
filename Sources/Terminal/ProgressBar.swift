import Foundation
import Logging

/// One line on the screen that shows the progress of a long task: percentage, bytes, records, rate, time left.
///
/// Drawn at most ten times a second, and not at all if there is no screen. Not thread-safe.
package struct ProgressBar {
    /// Time since an arbitrary fixed moment, by a monotonic clock.
    package typealias Clock = () -> Duration

    package let title: String
    /// nil if the total is unknown; then neither the percentage nor the time left is shown.
    package let totalBytes: Int?
    package private(set) var bytes = 0
    /// nil if only bytes are counted; then the rate is in bytes.
    package private(set) var records: Int?

    private let terminal: Terminal
    private let clock: Clock
    private let write: (String) -> Void
    private let start: Duration
    private var lastDrawn: Duration?

    package init(
        _ title: String, totalBytes: Int?, terminal: Terminal, clock: @escaping Clock,
        write: @escaping (String) -> Void
    ) {
        (self.title, self.totalBytes, self.terminal, self.clock) = (title, totalBytes, terminal, clock)
        self.write = write
        start = clock()
    }

    /// Draws on standard error.
    package init(_ title: String, totalBytes: Int?) {
        let origin = ContinuousClock.now
        self.init(
            title, totalBytes: totalBytes, terminal: Terminal(.error), clock: { ContinuousClock.now - origin },
            write: { LiveLine.error.draw(bar: $0) })
    }

    /// - Parameters: running totals, not increments.
    package mutating func update(bytes: Int, records: Int? = nil) {
        (self.bytes, self.records) = (bytes, records)
        guard terminal.isTerminal else { return }
        let now = clock()
        if let lastDrawn, now - lastDrawn < .milliseconds(100) { return }
        lastDrawn = now
        // Returns to the first column, and erases what is left of a longer previous line.
        write("\r" + DisplayWidth.truncated(line(at: now), to: max(1, terminal.width - 1)) + "\u{1B}[K")
    }

    /// Replaces the bar with its summary.
    package mutating func finish() {
        guard terminal.isTerminal else { return }
        write("\r" + DisplayWidth.truncated(summary, to: max(1, terminal.width - 1)) + "\u{1B}[K\n")
    }

    /// "Importing: 1 234 567 records, 2.3 GB in 12 s (102 880 records/s)".
    package var summary: String {
        let elapsed = clock() - start
        return "\(title): \(recordText.map { $0 + ", " } ?? "")\(HumanFormat.bytes(bytes)) in "
            + HumanFormat.duration(elapsed) + (rate(in: elapsed).map { " (\($0))" } ?? "")
    }

    private func line(at now: Duration) -> String {
        let elapsed = now - start
        var parts: [String] = []
        if let totalBytes, totalBytes > 0 {
            let share = min(1, max(0, Double(bytes) / Double(totalBytes)))
            parts.append(Self.bar(title, bytes, of: totalBytes))
            parts.append("\(HumanFormat.bytes(bytes)) of \(HumanFormat.bytes(totalBytes))")
            if let recordText { parts.append(recordText) }
            // The first second says little about how long the rest will take.
            if share > 0, share < 1, elapsed >= .seconds(1) {
                let left = elapsed * ((1 - share) / share)
                parts.append("about \(HumanFormat.duration(.seconds(left.components.seconds + 1))) left")
            }
        } else {
            parts = ["\(title) \(HumanFormat.bytes(bytes))"] + (recordText.map { [$0] } ?? [])
        }
        if let rate = rate(in: elapsed) { parts.append(rate) }
        return parts.joined(separator: ", ")
    }

    /// "History ███████░░░░░░░░░░░░░ 38 %".
    private static func bar(_ title: String, _ done: Int, of total: Int) -> String {
        let done = min(max(0, done), total)
        let filled = done * 20 / total
        return "\(title) " + String(repeating: "█", count: filled) + String(repeating: "░", count: 20 - filled)
            + " \(done * 100 / total) %"
    }

    /// "History ███████░░░░░░░░░░░░░ 38 %, 5 of 13 weeks, 2.1 weeks/s, about 4 s left": the line of a task that is
    /// measured by something else, its rate and the rest only once they mean anything.
    /// - Parameters:
    ///   - amount: how much is done of how much, in words.
    ///   - rate: the same for what is done in a second.
    package static func line(
        _ title: String, _ done: Int, of total: Int, after elapsed: Duration, amount: String, rate: (Double) -> String
    ) -> String {
        var text = bar(title, done, of: total) + ", \(amount)"
        let seconds = elapsed / .seconds(1)
        guard done > 0, seconds >= 0.5 else { return text }
        let each = Double(done) / seconds
        text += ", \(rate(each))/s"
        if done < total {
            text += ", about \(HumanFormat.duration(.seconds((Double(total - done) / each).rounded(.up)))) left"
        }
        return text
    }

    private var recordText: String? { records.map { "\(HumanFormat.count($0)) records" } }

    private func rate(in elapsed: Duration) -> String? {
        let seconds = elapsed / .seconds(1)
        guard seconds > 0.001 else { return nil }
        func each(_ total: Int) -> Int { Int(Double(total) / seconds) }
        return records.map { "\(HumanFormat.count(each($0))) records/s" } ?? "\(HumanFormat.bytes(each(bytes)))/s"
    }
}
