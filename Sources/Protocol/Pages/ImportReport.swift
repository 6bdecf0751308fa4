import HealthModel

/// The result of importing a file, as `import --json` prints it. A report from an earlier release has fewer members.
package struct ImportReport: Codable, Sendable, Equatable {
    package struct Tally: Codable, Sendable, Equatable {
        package var read: Int64
        package var added: Int64
        package var known: Int64
        package var deleted: Int64
        package var quarantined: Int64
        /// For a complete import: how many stored samples the file lacks.
        package var deletedByAbsence: Int64?
        /// Stored samples for which the file has another form of the same measurements; nil if there are none.
        package var replaced: Int64?

        package init(read: Int64, added: Int64, known: Int64, deleted: Int64, quarantined: Int64) {
            (self.read, self.added, self.known, self.deleted) = (read, added, known, deleted)
            self.quarantined = quarantined
        }
    }

    /// What a complete import reports in addition.
    package struct Completeness: Codable, Sendable, Equatable {
        package var complete: Bool
        /// ISO 8601.
        @OrNull package var exportDate: String?
        package var deletedByAbsence: Int64
        /// Why nothing was deleted.
        @OrNull package var refused: String?

        package init(exportDate: String?, deletedByAbsence: Int64, refused: String?) {
            complete = true
            (self.exportDate, self.deletedByAbsence, self.refused) = (exportDate, deletedByAbsence, refused)
        }
    }

    package var path: String
    package var total: Tally
    package var byType: [String: Tally]
    package var seconds: Double
    package var source = Source()
    /// Whether nothing was changed; nil for a plain import.
    package var dryRun: Bool?
    package var completeness: Completeness?

    /// A source under two names.
    package struct Renamed: Codable, Sendable, Equatable {
        /// What the store called it.
        package var from: String
        /// What the file calls it.
        package var to: String
        /// By how many samples it was recognized.
        package var samples: Int64

        package init(from: String, to: String, samples: Int64) {
            (self.from, self.to, self.samples) = (from, to, samples)
        }
    }

    /// What the file itself contains.
    package struct Source: Codable, Sendable, Equatable {
        package var recordElements: Int?
        package var workouts: Int?
        package var routes: Int?
        package var activitySummaries: Int?
        package var activitySummariesWithoutDay: Int?
        package var workoutValuesLeftOut: Int?
        package var electrocardiograms: Int?
        /// Documents from hospitals, and attachments to samples.
        package var clinicalRecords: Int?
        package var attachments: Int?
        /// Files that weren't read, by kind and folder; `ignoredEntries` has the names of the first 100.
        package var unread: [UnreadFiles]?
        package var ignoredEntries: [String]?
        package var otherExports: [String]?
        package var impossibleDateOfBirth: Bool?
        /// Whether the export was made by a generator; nil for a person's own export.
        package var madeUp: Bool?
        /// Sources that the file calls by other names than the store did; nil if there are none.
        package var renamed: [Renamed]?
        /// What of a file of Health Auto Export was taken as statistics; nil if nothing was.
        package var statistics: [TakenStatistics]?
        /// How the file is damaged; nil when it is intact.
        @OrNull package var damaged: String? = nil
        /// Whether the end of the file is missing.
        package var cut: Bool?

        package init() {}
    }

    /// How many stored samples a complete import deleted because the file lacks them, or would delete in a dry run; 0
    /// if it was refused.
    package var samplesDeleted: Int64 {
        completeness.map { $0.refused == nil ? $0.deletedByAbsence : 0 } ?? 0
    }

    /// How many stored samples were replaced by other forms of the same measurements, or would be in a dry run.
    package var samplesReplaced: Int64 { byType.values.reduce(0) { $0 + ($1.replaced ?? 0) } }

    package init(path: String, total: Tally, byType: [String: Tally], seconds: Double) {
        (self.path, self.total, self.byType, self.seconds) = (path, total, byType, seconds)
    }

    private enum CodingKeys: CodingKey { case path, byType, seconds, dryRun }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        path = try members.decode(String.self, forKey: .path)
        byType = try members.decodeIfPresent([String: Tally].self, forKey: .byType) ?? [:]
        seconds = try members.decodeIfPresent(Double.self, forKey: .seconds) ?? 0
        dryRun = try members.decodeIfPresent(Bool.self, forKey: .dryRun)
        total = try Tally(from: decoder)
        source = try Source(from: decoder)
        completeness = try? Completeness(from: decoder)
    }

    /// The members of all parts are written at the same level.
    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try total.encode(to: encoder)
        try source.encode(to: encoder)
        try completeness?.encode(to: encoder)
        try members.encode(path, forKey: .path)
        try members.encode(byType, forKey: .byType)
        try members.encode(seconds, forKey: .seconds)
        try members.encodeIfPresent(dryRun, forKey: .dryRun)
    }
}
