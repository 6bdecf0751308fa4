import Configuration
import HealthModel
import Inspection
import Protocol
import Terminal

extension StatusReport {
    /// What a destination's process knows about it: `{acceptance, compared, result, why, waitsUntil}`; null if the
    /// process isn't running.
    static func backend(_ beat: Heartbeat?) -> Value {
        guard let reported = beat?.uploader else { return .null }
        let known = reported.backend
        return [
            "acceptance": .string(known.acceptance.rawValue), "result": Value(known.result?.rawValue),
            "why": Value(known.why), "compared": Value(known.compared.map { InstantText.iso8601($0) }),
            "proof": reported.proof.map { Value(ReportedProof($0)) } ?? .null,
            "waitsUntil": Value(reported.waitsUntil.map { InstantText.iso8601($0) }),
        ]
    }

    /// A line about the destination; empty when nothing is known.
    /// - Parameter word: what people call it.
    package static func backendText(_ backend: Value, word: String, _ ago: (Value) -> String) -> String {
        guard !backend.isNull else { return "" }
        var parts: [String] = []
        switch backend["result"].string {
        case "complete": parts.append("holds what it accepted, compared \(ago(backend["compared"]))")
        case "redelivered":
            parts.append("had lost some of what it accepted (\(ago(backend["compared"]))); sent again")
        default: break
        }
        if backend["proof"]["at"].string != nil, backend["proof"]["unable"].isNull {
            let wrong = backend["proof"]["wrong"].int ?? 0
            parts.append(
                "each element compared \(ago(backend["proof"]["at"]))"
                    + (wrong > 0 ? ", \(HumanFormat.count(Int(wrong))) wrong" : ""))
        }
        if backend["acceptance"] == "trust" { parts.append("doesn't say who it is, so it is trusted") }
        if let why = backend["why"].string { parts.append("can't be compared: \(why)") }
        return parts.isEmpty
            ? "" : "\(word.prefix(1).uppercased() + word.dropFirst()): \(parts.joined(separator: "; ")).\n"
    }

    /// Where the stack shows its page, and how many viewers it has: `{address, port, viewers}`; null if no dashboard is
    /// running.
    static func dashboard(_ instance: StackConfiguration.Instance?, _ beat: Heartbeat?) throws -> Value {
        guard let instance, let reported = beat?.dashboard else { return .null }
        let address = DashboardAddress.url(
            try ServerPort.dashboard.endpoint(of: instance), port: reported.dashboardPort)
        return [
            "address": .string(address), "port": .integer(Int64(reported.dashboardPort)),
            "viewers": .integer(Int64(reported.viewers)),
        ]
    }

    /// A line about the dashboard; empty when nothing is known.
    static func dashboardText(_ dashboard: Value) -> String {
        dashboard["address"].string.map { "Page: \($0)\n" } ?? ""
    }

    /// The families of which the store has sums or means beside samples; empty if it has none.
    package static func statisticsText(_ metrics: [Value]) -> String {
        let counted = metrics.compactMap { metric -> String? in
            guard let count = metric["statistics"].int, count > 0 else { return nil }
            return "\(metric["metric"].string ?? "") \(HumanFormat.count(Int(count)))"
        }
        guard !counted.isEmpty else { return "" }
        return
            "Sums and means, which aren't samples: \(counted.joined(separator: ", ")). 'healthbus types' lists them by "
            + "type, ending in .statistics.\n"
    }
}
