/// The properties of a backend that are tested.
package enum BackendCase: String, Sendable, CaseIterable {
    // Access.
    case noToken = "no-token", wrongToken = "wrong-token"
    // About one sample and its outcome.
    case sample, shows, again, higher, lower, deletion, lateCopy = "late-copy", deletedFirst = "deleted-first", revived
    // About what an element may look like.
    case unknownMembers = "unknown-members", otherScripts = "other-scripts", emptyMembers = "empty-members"
    // The other lists.
    case workout, night, day
    // About requests as a whole.
    case badElement = "bad-element", bigBatch = "big-batch", tooLarge = "too-large", twoAtOnce = "two-at-once"
    // Recommended.
    case manual, sameVersion = "same-version", upperCase = "upper-case", users, notJSON = "not-json", generation, stats,
        versions, changes

    /// Whether a backend that fails this would lose samples, keep them when they should be deleted, or let some hold up
    /// others.
    package var isRequired: Bool {
        switch self {
        case .manual, .sameVersion, .upperCase, .users, .notJSON, .generation, .stats, .versions, .changes: false
        default: true
        }
    }

    package var about: String {
        switch self {
        case .noToken: "answers 401 to a request without the token"
        case .wrongToken: "answers 401 to another token"
        case .sample: "accepts a sample"
        case .shows: "reports the outcome of each element"
        case .again: "recognizes a repeated sample"
        case .higher: "replaces a sample with a higher version"
        case .lower: "keeps a sample when a lower version arrives"
        case .deletion: "deletes a sample"
        case .lateCopy: "doesn't revive a deleted sample when a late copy arrives"
        case .deletedFirst: "keeps a deletion that arrives before its sample"
        case .revived: "accepts a deleted sample again with a higher version"
        case .unknownMembers: "ignores members it doesn't know"
        case .otherScripts: "accepts text in any script"
        case .emptyMembers: "accepts a sample without value, unit and metadata"
        case .workout: "accepts and deletes a workout"
        case .night: "accepts and deletes a night"
        case .day: "accepts and deletes a day"
        case .badElement: "refuses one bad element and accepts the others"
        case .bigBatch: "accepts 4096 samples at once, or answers 413"
        case .tooLarge: "accepts a body of 9 MiB, or answers 413"
        case .twoAtOnce: "stores the same samples, sent twice at once, only once"
        case .manual: "keeps only the newest of the samples entered by hand for the same time"
        case .sameVersion: "prefers a deletion to a sample with the same version"
        case .upperCase: "treats a UUID in upper case as the same"
        case .users: "keeps the elements of two users separate"
        case .notJSON: "answers 400 to what isn't JSON"
        case .generation: "says which database it is"
        case .stats: "says how much it holds (GET /api/v1/stats)"
        case .versions: "lists what it keeps (GET /api/v1/versions)"
        case .changes: "lists what has changed (GET /api/v1/changes)"
        }
    }

    /// Whether this can't be tested on a server that doesn't reveal what it stores.
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
