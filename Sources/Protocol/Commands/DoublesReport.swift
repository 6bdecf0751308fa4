import HealthModel

/// Samples that the store has twice because an earlier release didn't recognize them: found, or, after a repair or its
/// undo, changed.
package struct DoublesReport: Codable, Sendable, Equatable {
    package struct User: Codable, Sendable, Equatable {
        package var user: String
        /// Sources that the store has under two names.
        package var renamed: [ImportReport.Renamed]
        /// By type, the samples that others of their source stand for.
        package var replaced: [String: Int64]
        /// By type, the samples that are stored twice, under two names of their source.
        package var merged: [String: Int64]

        /// Heartbeats carry the report, so it stays small.
        package static let listed = 20

        /// - Parameter renamed: all pairs of names; the first `listed` are kept.
        package init(
            user: String, renamed: [ImportReport.Renamed] = [], replaced: [String: Int64] = [:],
            merged: [String: Int64] = [:]
        ) {
            self.user = user
            self.renamed = Array(renamed.prefix(Self.listed))
            (self.replaced, self.merged) = (replaced, merged)
        }

        package var samples: Int64 { replaced.values.reduce(0, +) + merged.values.reduce(0, +) }
        package var isEmpty: Bool { renamed.isEmpty && samples == 0 }
    }

    /// The request's id.
    package var id: String?
    /// Whether nothing was changed; nil after a repair or its undo.
    package var dryRun: Bool?
    package var users: [User]

    package init(id: String? = nil, dryRun: Bool? = nil, users: [User]) {
        (self.id, self.dryRun, self.users) = (id, dryRun, users)
    }

    /// How many samples are stored twice, of all users.
    package var samples: Int64 { users.reduce(0) { $0 + $1.samples } }
    package var isEmpty: Bool { users.allSatisfy(\.isEmpty) }
}
