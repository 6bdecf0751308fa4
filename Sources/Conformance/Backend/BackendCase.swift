/// What is asked of a backend.
package enum BackendCase: String, Sendable, CaseIterable {
    // Who may.
    case noToken = "no-token", wrongToken = "wrong-token"
    // One sample, and what becomes of it.
    case sample, shows, again, higher, lower, deletion, lateCopy = "late-copy", deletedFirst = "deleted-first", revived
    // What an element may look like.
    case unknownMembers = "unknown-members", otherScripts = "other-scripts", emptyMembers = "empty-members"
    // The other lists.
    case workout, night, day
    // Requests as a whole.
    case badElement = "bad-element", bigBatch = "big-batch", tooLarge = "too-large", twoAtOnce = "two-at-once"
    // What nothing is lost without.
    case manual, sameVersion = "same-version", upperCase = "upper-case", users, notJSON = "not-json", generation, stats,
        versions

    /// Without it samples get lost, or stay, or hold up others.
    package var isRequired: Bool {
        switch self {
        case .manual, .sameVersion, .upperCase, .users, .notJSON, .generation, .stats, .versions: false
        default: true
        }
    }

    package var about: String {
        switch self {
        case .noToken: "answers 401 to a request without the token"
        case .wrongToken: "answers 401 to another token"
        case .sample: "takes a sample"
        case .shows: "shows what became of each element"
        case .again: "knows a sample that comes again"
        case .higher: "replaces a sample by its higher version"
        case .lower: "keeps a sample when a lower version comes"
        case .deletion: "deletes a sample"
        case .lateCopy: "doesn't bring a deleted sample back by a late copy"
        case .deletedFirst: "keeps a deletion that comes before its sample"
        case .revived: "takes a deleted sample again with a higher version"
        case .unknownMembers: "passes over members that it doesn't know"
        case .otherScripts: "takes text in any script"
        case .emptyMembers: "takes a sample without value, unit and metadata"
        case .workout: "takes and deletes a workout"
        case .night: "takes and deletes a night"
        case .day: "takes and deletes a day"
        case .badElement: "refuses one bad element and takes the others"
        case .bigBatch: "takes 4096 samples at once, or answers 413"
        case .tooLarge: "takes a body of 9 MiB, or answers 413"
        case .twoAtOnce: "takes the same samples twice at one time, each once"
        case .manual: "keeps samples entered by hand at one time as one"
        case .sameVersion: "lets the deletion win over a sample of its version"
        case .upperCase: "takes a UUID in upper case for the same"
        case .users: "keeps the elements of two users apart"
        case .notJSON: "answers 400 to what isn't JSON"
        case .generation: "says which database it is"
        case .stats: "says how much it holds (GET /api/v1/stats)"
        case .versions: "lists what it keeps (GET /api/v1/versions)"
        }
    }

    /// Whether nothing can be said of it where a server shows nothing of what it keeps.
    var looksInside: Bool {
        switch self {
        case .again, .higher, .lower, .deletion, .lateCopy, .deletedFirst, .revived, .workout, .night, .day, .twoAtOnce,
            .manual,
            .sameVersion, .upperCase, .users:
            true
        default: false
        }
    }
}
