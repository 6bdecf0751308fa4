import HealthModel
import PluginKit

extension StatusReport {
    /// What the uploader knows of its backend: `{acceptance, compared, result, why, waitsUntil}`; null without one that runs.
    static func backend(_ beat: Heartbeat?) -> Value {
        guard let beat, let known = beat.details["backend"] else { return .null }
        return [
            "acceptance": known["acceptance"], "result": known["result"], "why": known["why"],
            "compared": Value(known["compared"].int.map { InstantText.iso8601($0) }),
            "waitsUntil": Value(beat.details["waitsUntil"]?.int.map { InstantText.iso8601($0) }),
        ]
    }

    /// A line about it; empty when nothing is known.
    static func backendText(_ backend: Value, _ ago: (Value) -> String) -> String {
        guard !backend.isNull else { return "" }
        var parts: [String] = []
        switch backend["result"].string {
        case "complete": parts.append("holds what it took, compared \(ago(backend["compared"]))")
        case "redelivered": parts.append("had lost some of what it took (\(ago(backend["compared"]))); delivered again")
        default: break
        }
        if backend["acceptance"] == "trust" { parts.append("doesn't say who it is: its acceptance is taken on trust") }
        if let why = backend["why"].string { parts.append("can't be compared: \(why)") }
        return parts.isEmpty ? "" : "Backend: \(parts.joined(separator: "; ")).\n"
    }
}
