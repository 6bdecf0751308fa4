import HealthModel
import Protocol

/// When a destination was last compared with what was delivered, as commands print it.
package struct ToldProof: Codable, Sendable, Equatable {
    /// ISO 8601.
    package var at: String
    /// How many elements, or files, were compared.
    package var compared: Int64
    package var wrong: Int64
    /// Null if it can be compared.
    @OrNull package var unable: String?

    package init(_ proof: ProofSummary) {
        at = InstantText.iso8601(proof.at)
        compared = proof.compared
        wrong = proof.wrong
        unable = proof.unable
    }
}
