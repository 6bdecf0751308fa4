import HealthModel

/// When everything that a destination should hold was last compared with what it holds, and the result.
package struct ProofSummary: Codable, Sendable, Equatable {
    package var at: Instant
    /// How many elements, or files, were compared.
    package var compared: Int64
    /// How many of them weren't as they should be.
    package var wrong: Int64
    /// Why it can't be compared; nil if it can.
    package var unable: String?
    /// How many living elements the destination has that aren't here; nil if there are none.
    package var beyond: Int64? = nil
    /// How many elements were replaced there since a store was made again or restored here; nil if none were.
    package var replaced: Int64? = nil

    package init(at: Instant, compared: Int64, wrong: Int64, unable: String? = nil) {
        (self.at, self.compared, self.wrong, self.unable) = (at, compared, wrong, unable)
    }
}
