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
            let filled = Int(share * 20)
            let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 20 - filled)
            parts.append("\(title) \(bar) \(Int(share * 100)) %")
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

    private var recordText: String? { records.map { "\(HumanFormat.count($0)) records" } }

    private func rate(in elapsed: Duration) -> String? {
        let seconds = elapsed / .seconds(1)
        guard seconds > 0.001 else { return nil }
        func each(_ total: Int) -> Int { Int(Double(total) / seconds) }
        return records.map { "\(HumanFormat.count(each($0))) records/s" } ?? "\(HumanFormat.bytes(each(bytes)))/s"
    }
}
