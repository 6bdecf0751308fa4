import HealthModel
import Protocol
import Terminal

/// What a person should know about the comparison of a destination, element by element, with what was delivered. Pure.
package enum ProofFindings {
    /// It is compared daily.
    private static let patience = Duration.seconds(3 * 86_400)

    /// - Parameter word: what people call the destination, after "the".
    static func of(_ proof: ProofSummary?, _ name: String, word: String, now: Instant) -> [Finding] {
        guard let proof else { return [] }
        if let why = proof.unable {
            return [
                Finding(
                    .note, name, "can't compare what the \(word) keeps with what was delivered: \(why)",
                    remedy: "nothing; what was delivered is counted, but not proven"
                ).standing()
            ]
        }
        let choice = "--destination \(name)"
        var found: [Finding] = []
        if let beyond = proof.beyond, beyond > proof.compared {
            found.append(
                Finding(
                    .warning, name,
                    "the \(word) keeps \(HumanFormat.count(Int(beyond), "element")) that this stack doesn't have",
                    remedy: "if a store was lost here, import the newest export again; nothing is deleted there"))
        }
        if let replaced = proof.replaced {
            found.append(
                Finding(
                    .note, name,
                    "replaced \(HumanFormat.count(Int(replaced), "element")) at the \(word) by those held here, since a store was made anew or restored",
                    remedy:
                        "nothing; but if none was, another stack delivers there for the same person: stop one of the two"
                ))
        }
        guard now - proof.at > patience else { return found }
        return found + [
            Finding(
                .warning, name,
                "last compared what the \(word) keeps with what was delivered \(HumanFormat.count(Int((now - proof.at).seconds / 86_400), "day")) ago",
                remedy: "'healthbus verify \(choice)' compares now, or says what is in the way")
        ]
    }

    /// When the destinations were compared, for the line that says that all is well: since the one whose turn was longest
    /// ago. Empty if none was.
    package static func words(_ beats: StackMetrics.Beats, now: Instant) -> String {
        let proven = beats.values.compactMap(\.beat.uploader?.proof).filter { $0.unable == nil }
        guard let oldest = proven.min(by: { $0.at < $1.at }) else { return "" }
        let age = HumanFormat.duration(max(.zero, now - oldest.at))
        return "; what was delivered was compared with what is kept \(age) ago"
    }
}
