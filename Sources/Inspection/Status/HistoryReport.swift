import Changelog
import Client
import Configuration
import Foundation
import HealthModel
import Protocol
import Terminal

/// How the stack's syncs went: the rounds that are kept, their success rate and durations, and how long samples take to the backend.
package struct HistoryReport {
    package let value: Value
    private let now: Date

    package init(_ stack: Stack, now: Date) throws {
        self.now = now
        let debouncer = try stack.instance(.debouncer)
        let reader = stack.reader()
        let rounds = try reader.rows(debouncer, topic: "rounds").compactMap(\.body)
            .sorted { ($0["number"].int ?? 0) > ($1["number"].int ?? 0) }
        var delays: Value = [:]
        if let uploader = stack.configuration.only(.uploader), try reader.isRunning(uploader.name) {
            let beat = try reader.gather([uploader.name], within: 3)[uploader.name]?.beat
            delays = Value(beat?.uploader?.delays ?? [:])
        }
        let succeeded = rounds.count { $0["failed"].object?.isEmpty != false }
        let durations = rounds.compactMap { $0["duration"].int }.sorted()
        func quantile(_ share: Double) -> Value {
            durations.isEmpty ? .null : Value(durations[Int(Double(durations.count - 1) * share)].seconds)
        }
        value = [
            "rounds": .integer(Int64(rounds.count)),
            "successRate": rounds.isEmpty ? .null : .number(Double(succeeded) / Double(rounds.count)),
            "seconds": ["median": quantile(0.5), "p95": quantile(0.95)], "delays": delays,
            "last": .array(
                rounds.prefix(100).map { round in
                    [
                        "number": round["number"], "reason": round["reason"],
                        "began": Value(round["began"].int.map { InstantText.iso8601($0) }),
                        "seconds": Value((round["duration"].int ?? 0).seconds),
                        "succeeded": .array((round["succeeded"].object ?? [:]).keys.sorted().map { .string($0) }),
                        "failed": round["failed"],
                    ]
                }),
        ]
    }

    package func text(for terminal: Terminal) -> String {
        var table = Table([.init("Began"), .init("Reason"), .number("Took"), .init("Result")])
        for round in (value["last"].array ?? []).prefix(20) {
            let date = round["began"].string.flatMap { InstantText.parse($0) }
                .map { Date(timeIntervalSince1970: $0.seconds) }
            let failed = (round["failed"].object ?? [:]).sorted { $0.key < $1.key }
                .map { "\($0.key) failed (\($0.value.string ?? ""))" }
            let succeeded = (round["succeeded"].array ?? []).compactMap(\.string)
            table.add([
                HumanFormat.relative(date, now: now), round["reason"].string ?? "",
                HumanFormat.duration(.seconds(round["seconds"].double ?? 0)),
                (failed + (succeeded.isEmpty ? [] : ["\(succeeded.joined(separator: ", ")) succeeded"]))
                    .joined(separator: "; "),
            ])
        }
        guard let rate = value["successRate"].double else { return "No syncs yet.\n" }
        let rounds = value["rounds"].int ?? 0
        let median = HumanFormat.duration(.seconds(value["seconds"]["median"].double ?? 0))
        let p95 = HumanFormat.duration(.seconds(value["seconds"]["p95"].double ?? 0))
        return table.render(for: terminal) + "\n"
            + "\(rounds) sync\(rounds == 1 ? "" : "s"), \(Int((rate * 100).rounded(.down))) % of them without a failure; "
            + "median \(median), 95th percentile \(p95).\n" + delays(for: terminal)
    }

    private func delays(for terminal: Terminal) -> String {
        let delays = Value.inOrder(value["delays"].object ?? [:])
        guard !delays.isEmpty else { return "" }
        var table = Table([.init("Sample to backend"), .number("Samples"), .number("Median"), .number("95th")])
        for (metric, delay) in delays {
            table.add([
                metric, HumanFormat.count(Int(delay["count"].int ?? 0)),
                HumanFormat.duration(.seconds(delay["median"].double ?? 0)),
                HumanFormat.duration(.seconds(delay["p95"].double ?? 0)),
            ])
        }
        return "\n" + table.render(for: terminal)
    }
}
