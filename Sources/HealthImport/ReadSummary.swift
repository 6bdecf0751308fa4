import HealthModel

/// What a reader found in one file.
package struct ReadSummary: Sendable, Equatable {
    /// `Record` elements outside correlations, delivered as rows or skipped in known pieces.
    package var records = 0
    /// `Record` elements within a `Correlation`, delivered as rows with `.correlationChild`; most repeat a row in
    /// `records`.
    package var correlationChildren = 0
    package var correlations = 0
    package var workouts = 0
    /// Samples from other elements (audiograms, prescriptions, clinical records). Their rows have no number, and their
    /// content is in the payload.
    package var otherSamples = 0
    package var activitySummaries = 0
    /// Workout numbers that can't be true, or whose unit doesn't fit; kept in the workout's `leftOut`, but not counted.
    package var workoutValuesLeftOut = 0
    /// Ring summaries that were skipped because they have no real day (exports have some for 1969-12-30 and 31, the
    /// beginning of the phone's clock).
    package var activitySummariesWithoutDay = 0
    package var routes = 0
    package var routePoints = 0
    /// Route points that were left out because they have no position or time, or because their workout has another
    /// route.
    package var routePointsUnreadable = 0
    /// Elements passed on for quarantine.
    package var quarantined = 0
    /// Control characters, bytes that aren't UTF-8 (their elements are quarantined), and numeric references to
    /// characters that XML forbids. They are replaced or left out.
    package var charactersReplaced: Int64 = 0
    /// ECGs. Each becomes a sample and a document with its waveform.
    package var electrocardiograms = 0
    /// Files from hospitals, and attachments to samples, which are kept as documents.
    package var clinicalRecords = 0
    package var attachments = 0
    /// Files in the archive that aren't read: their number, the names of the first 100, and counts of all by kind and
    /// folder.
    package var ignoredEntryCount = 0
    package var ignoredEntries: [String] = []
    package private(set) var unread: [UnreadFiles] = []
    /// Ignored files that are exports themselves, up to the first 100: only the first export in an archive is read.
    package var otherExports: [String] = []
    /// Of a file of Health Auto Export: what was taken as statistics rather than samples.
    package var statistics: [TakenStatistics] = []
    /// Set when the input ends early or isn't well-formed; everything intact has been delivered.
    package var damaged: Damage?

    package init() {}

    /// `Record` elements that were read completely, whether in correlations or not.
    package var recordElements: Int { records + correlationChildren }

    mutating func count(_ kind: DocumentKind) {
        switch kind {
        case .electrocardiogram: electrocardiograms += 1
        case .clinicalRecord: clinicalRecords += 1
        case .attachment: attachments += 1
        }
    }

    mutating func ignore(_ name: String, _ kind: UnreadKind) {
        ignoredEntryCount += 1
        if ignoredEntries.count < 100 { ignoredEntries.append(EntryKind.short(name)) }
        let folder = EntryKind.short(name.split(separator: "/").dropLast().joined(separator: "/"))
        func place(_ folder: String) -> Int? { unread.firstIndex { $0.kind == kind && $0.folder == folder } }
        let counted = unread.count < UnreadFiles.limit || place(folder) != nil ? folder : UnreadFiles.elsewhere
        guard let known = place(counted) else {
            return unread.append(UnreadFiles(kind: kind, folder: counted, count: 1))
        }
        unread[known].count += 1
    }
}

/// Where an input is broken.
package struct Damage: Sendable, Equatable, CustomStringConvertible {
    /// For example "the XML ends before the export does".
    package var what: String
    /// The archive's entry, or the file.
    package var entry: String
    /// Line in that entry; 0 when unknown.
    package var line: Int64
    /// Whether the file ends early, has zero bytes where content was, or is in a broken archive, so that another copy
    /// may be intact. Otherwise the export itself was written that way.
    package var isCut: Bool

    package init(what: String, entry: String, line: Int64, isCut: Bool = true) {
        (self.what, self.entry, self.line, self.isCut) = (what, entry, line, isCut)
    }

    package var description: String { line > 0 ? "\(what) (\(entry), line \(line))" : "\(what) (\(entry))" }
}

/// What an export says about itself. Only the date of birth is read from its `Me` element.
package struct ExportInfo: Sendable, Equatable {
    /// When the phone wrote the export.
    package var date: Instant?
    /// For example "en_DE"; empty when not stated.
    package var locale: String
    /// The person's date of birth; nil when not stated.
    package var dateOfBirth: LocalDay?
    /// Whether the export was made by a generator rather than from a person's data.
    package var isMadeUp: Bool
    /// For a file in the form that is pushed on a way in: that way's path.
    package var way: String?

    package init(date: Instant?, locale: String, dateOfBirth: LocalDay? = nil, isMadeUp: Bool = false) {
        (self.date, self.locale, self.dateOfBirth, self.isMadeUp) = (date, locale, dateOfBirth, isMadeUp)
    }
}
