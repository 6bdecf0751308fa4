import Client
import Configuration
import Foundation
import HealthModel
import Inspection
import Protocol
import Terminal

/// How the stack's syncs went: the stored rounds, their success rate and durations, and how long samples take to reach
/// the backend.
package struct HistoryReport {
    /// The report as `history --json` prints it.
    private struct Report: Codable {
        struct Seconds: Codable {
            @OrNull var median: Double?
            @OrNull var p95: Double?
        }

        struct Round: Codable {
            var number: Int64
            var reason: String
            var began: String
            var seconds: Double
            var succeeded: [String]
            var failed: [String: String]
        }

        var rounds: Int
        @OrNull var successRate: Double?
        var seconds: Seconds
        /// By consumer.
        var metrics: [String: MetricDurations]
        var delays: [String: UploaderDetails.Delay]
        var last: [Round]
    }

    private let report: Report
    private let now: Date
    /// The handler of every type that no other handler names.
    private let rest: String?

    package var value: Value { Value(report) }

    package init(_ stack: Stack, now: Date) throws { try self.init(stack, stack.reader(), now: now) }

    package init(_ stack: Stack, _ reader: StackReader, now: Date) throws {
        self.now = now
        let debouncer = try stack.instance(.debouncer)
        let rounds = try reader.rows(debouncer, topic: "rounds").compactMap { $0.body?.read(RoundResult.self) }
            .sorted { $0.number > $1.number }
        var delays: [String: UploaderDetails.Delay] = [:]
        let running = try stack.destinations.map(\.name).filter { try reader.isRunning($0) }
        if !running.isEmpty {
            // If several uploaders deliver a metric, the slowest one counts, because only then has the metric arrived
            // everywhere.
            for beat in try reader.gather(running, within: 3).values {
                delays.merge(beat.beat.uploader?.delays ?? [:]) { ($0.p95 ?? 0) >= ($1.p95 ?? 0) ? $0 : $1 }
            }
        }
        let succeeded = rounds.count { $0.failed.isEmpty }
        let durations = rounds.map(\.duration).sorted()
        func percentile(_ percent: Int) -> Double? { MetricDurations.percentile(percent, of: durations) }
        rest = stack.configuration.handlers.first { $0.manifest.types.contains("*") }?.name
        report = Report(
            rounds: rounds.count, successRate: rounds.isEmpty ? nil : Double(succeeded) / Double(rounds.count),
            seconds: .init(median: percentile(50), p95: percentile(95)), metrics: MetricDurations.of(rounds),
            delays: delays,
            last: rounds.prefix(100).map { round in
                .init(
                    number: round.number, reason: round.reason, began: InstantText.iso8601(round.began),
                    seconds: Duration.microseconds(round.duration).seconds, succeeded: round.succeeded.keys.sorted(),
                    failed: round.failed)
            })
    }

    package func text(for terminal: Terminal) -> String {
        var table = Table([.init("Began"), .init("Reason"), .number("Took"), .init("Result")])
        for round in report.last.prefix(20) {
            let failed = round.failed.sorted { $0.key < $1.key }.map { "\($0.key) failed (\($0.value))" }
            let succeeded = round.succeeded
            table.add([
                HumanFormat.relative(InstantText.parse(round.began), now: now, for: terminal), round.reason,
                HumanFormat.duration(.seconds(round.seconds)),
                (failed + (succeeded.isEmpty ? [] : ["\(succeeded.joined(separator: ", ")) succeeded"]))
                    .joined(separator: "; "),
            ])
        }
        guard let rate = report.successRate else { return "No syncs yet.\n" }
        let rounds = report.rounds
        let median = HumanFormat.duration(.seconds(report.seconds.median ?? 0))
        let p95 = HumanFormat.duration(.seconds(report.seconds.p95 ?? 0))
        return table.render(for: terminal) + "\n"
            + "\(rounds) sync\(rounds == 1 ? "" : "s"), \(Int((rate * 100).rounded(.down))) % of them without a failure; "
            + "median \(median), 95th percentile \(p95).\n" + metrics(for: terminal) + delays(for: terminal)
    }

    private func metrics(for terminal: Terminal) -> String {
        var table = Table([.init("Metric"), .number("Syncs"), .number("Failed"), .number("Median"), .number("95th")])
        for (metric, times) in report.metrics.sorted(by: { $0.key < $1.key }) {
            table.add([
                metric, HumanFormat.count(times.rounds), HumanFormat.count(times.failed),
                times.median.map { HumanFormat.duration(.seconds($0)) } ?? "–",
                times.p95.map { HumanFormat.duration(.seconds($0)) } ?? "–",
            ])
        }
        return "\n" + table.render(for: terminal)
    }

    private func delays(for terminal: Terminal) -> String {
        let delays = report.delays.sorted { $0.key < $1.key }
        guard !delays.isEmpty else { return "" }
        var table = Table([
            .init("Sample to destination, last 48 h"), .number("Samples"), .number("Median"), .number("95th"),
        ])
        for (metric, delay) in delays {
            table.add([
                // Elsewhere, people see that handler's name.
                metric == StackConfiguration.otherFamily ? rest ?? metric : metric, HumanFormat.count(Int(delay.count)),
                HumanFormat.duration(.seconds(delay.median ?? 0)),
                HumanFormat.duration(.seconds(delay.p95 ?? 0)),
            ])
        }
        return "\n" + table.render(for: terminal)
    }
}
