import HealthModel

/// What a reader found in one file.
public struct ReadSummary: Sendable, Equatable {
    /// `Record` elements that stand by themselves and were delivered as rows.
    public var records = 0
    /// `Record` elements within a `Correlation`, delivered as rows with `.correlationChild`; most repeat a row of `records`.
    public var correlationChildren = 0
    public var correlations = 0
    public var workouts = 0
    /// Samples of other elements (audiograms, prescriptions, clinical records): rows without number, their content in the payload.
    public var otherSamples = 0
    public var activitySummaries = 0
    /// Numbers of workouts that can't be true, or whose unit isn't one of their kind: kept apart within the workout (`leftOut`).
    public var workoutValuesLeftOut = 0
    /// Ring summaries without a day (exports have some of 1969-12-30 and 31, the beginning of the phone's clock): passed over.
    public var activitySummariesWithoutDay = 0
    public var routes = 0
    public var routePoints = 0
    /// Points of routes without position or time: left out.
    public var routePointsUnreadable = 0
    /// Elements handed over as quarantined.
    public var quarantined = 0
    /// Characters that XML forbids, bytes that aren't UTF-8, undeclared entities: replaced or left out.
    public var charactersReplaced: Int64 = 0
    /// Files of the archive that aren't read (ECGs, attachments, the clinical document): how many, and the names of the first 100.
    public var ignoredEntryCount = 0
    public var ignoredEntries: [String] = []
    /// Those of the ignored files that are exports themselves, the first 100: only the first export of an archive is read.
    public var otherExports: [String] = []
    /// Set when the input ends early or isn't well-formed: everything that was whole has been delivered.
    public var damaged: Damage?

    public init() {}

    /// `Record` elements read whole, in correlations or not.
    public var recordElements: Int { records + correlationChildren }

    mutating func ignore(_ name: String) {
        ignoredEntryCount += 1
        if ignoredEntries.count < 100 { ignoredEntries.append(name) }
    }
}

/// Where an input is broken.
public struct Damage: Sendable, Equatable, CustomStringConvertible {
    /// "the XML ends before the export does".
    public var what: String
    /// The archive's entry, or the file.
    public var entry: String
    /// Line of that entry; 0 when unknown.
    public var line: Int64
    /// Something is missing from its end, or its archive is broken: another copy may be whole. Else the export itself was written so.
    public var isCut: Bool

    public init(what: String, entry: String, line: Int64, isCut: Bool = true) {
        self.what = what
        self.entry = entry
        self.line = line
        self.isCut = isCut
    }

    public var description: String { line > 0 ? "\(what) (\(entry), line \(line))" : "\(what) (\(entry))" }
}

/// What an export says of itself. Of its `Me` element only the date of birth is read.
public struct ExportInfo: Sendable, Equatable {
    /// When the phone wrote it.
    public var date: Instant?
    /// "en_DE"; empty when it doesn't say.
    public var locale: String
    /// Whose export it is was born then; nil when the export doesn't say.
    public var dateOfBirth: LocalDay?

    public init(date: Instant?, locale: String, dateOfBirth: LocalDay? = nil) {
        self.date = date
        self.locale = locale
        self.dateOfBirth = dateOfBirth
    }
}
