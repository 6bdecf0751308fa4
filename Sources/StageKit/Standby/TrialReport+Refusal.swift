import Logging
import Protocol
import Terminal

extension TrialReport {
    /// Why this plugin shouldn't take over: it fails on days, or events would be deleted. nil if nothing speaks against
    /// it; figures that differ don't.
    /// - Parameter plugin: its name or folder.
    package func refusal(of plugin: String) -> Failure? {
        let hint = "correct the plugin, or repeat this with --force"
        if let first = failed.first {
            let count = failed.count + computed + empty + (eventDays ?? 0)
            return Failure(
                "'\(plugin)' fails on \(failed.count) of \(count) days (\(first.date): \(first.why))", hint: hint)
        }
        let lost = (events ?? []).filter { $0.gone > 0 }.map(\.lossText)
        guard !lost.isEmpty else { return nil }
        return Failure(
            "'\(plugin)' would delete \(lost.joined(separator: " and ")), at destinations too", hint: hint)
    }

    /// For example "All 412 nights of 400 days stay."; nil without events.
    package var eventsText: String? {
        guard let events, !events.isEmpty else { return nil }
        let parts = events.map {
            $0.gone > 0 ? "would delete \($0.lossText)" : "keeps \(HumanFormat.count($0.count, $0.kind))"
        }
        return "It \(parts.joined(separator: " and "))."
    }
}

extension TrialReport.Events {
    /// For example "5 of 14 nights (2025-03-28, 2025-03-27, 2025-03-25, …)".
    fileprivate var lossText: String {
        let days = dates.joined(separator: ", ") + (days > dates.count ? ", …" : "")
        return "\(gone) of \(HumanFormat.count(count, kind)) (\(days))"
    }
}
