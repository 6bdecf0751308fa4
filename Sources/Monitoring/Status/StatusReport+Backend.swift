import HealthModel
import Protocol
import Terminal

extension StatusReport {
    /// What a destination's process knows about it: `{acceptance, compared, result, why, waitsUntil}`; null if the
    /// process isn't running.
    static func backend(_ beat: Heartbeat?) -> Value {
        guard let told = beat?.uploader else { return .null }
        let known = told.backend
        return [
            "acceptance": .string(known.acceptance.rawValue), "result": Value(known.result?.rawValue),
            "why": Value(known.why), "compared": Value(known.compared.map { InstantText.iso8601($0) }),
            "proof": told.proof.map { Value(ToldProof($0)) } ?? .null,
            "waitsUntil": Value(told.waitsUntil.map { InstantText.iso8601($0) }),
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
}
