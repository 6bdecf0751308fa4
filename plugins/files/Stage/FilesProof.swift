import HealthModel
import Protocol

/// How a file differs from what its producers say.
package enum FileDifference: String, CaseIterable, Sendable {
    case different, missing
    /// It is there, but nothing belongs into it.
    case superfluous
}

/// The comparison of every file with what its producers say now: how far it has got, and its result.
///
/// Unlike `FilesCheck`, which compares files with what was written, it finds what was written wrongly.
struct FilesProof {
    enum Phase: Equatable {
        case idle
        /// The files in the folder are being listed.
        case listing(effect: Int64)
        /// Files that should be there are being looked for.
        case expecting
        case comparing
        /// The manifest is compared with what was written.
        case manifest(effect: Int64)
        /// What differs is being written again.
        case repairing
    }

    /// A time without files of a type that has samples before and after it, or at its edge.
    struct Gap: Equatable {
        var user: String
        var type: String
        var from: Instant
        var to: Instant
        /// Where reading continues.
        var place: SlicePlace?
    }

    static let interval = Duration.seconds(24 * 3600)
    /// After differing files were written again.
    static let repeatAfter = Duration.seconds(3600)

    private(set) var phase = Phase.idle
    /// The request that it answers; nil if nobody asked.
    private(set) var request: String?
    private(set) var answered: String?
    private var repairs = false
    /// The path that was last taken from the ledger; nil after the last one.
    private(set) var last: String? = ""
    /// Files in the folder that aren't in the ledger, and those to be compared again.
    private(set) var others: [String] = []
    /// Those of them that need not be there.
    private var guesses: Set<String> = []
    /// What the observer has, of which no gaps have been determined yet; nil if it hasn't been asked.
    private var rows: [TypeRow]?
    /// Times in which there should be nothing, to be read; the last one is next.
    var gaps: [Gap] = []
    /// The pull that is being answered.
    var question: Int64?
    private var hasManifest = false
    /// Nothing is begun before this time.
    var notBefore = MonotonicTime.distantPast
    private(set) var compared: Int64 = 0
    private(set) var found: [FileDifference: (count: Int64, first: [String])] = [:]
    private(set) var repairing: Set<String> = []
    private var repaired: Int64 = 0

    private static let shown = 5

    var wrong: Int64 { found.values.reduce(0) { $0 + $1.count } }
    /// Whether differing files are written again. Without a request, they always are.
    var isRepairing: Bool { request == nil || repairs }

    mutating func begin(_ effect: Int64, for request: String? = nil, repairs: Bool = true) {
        let answered = answered
        self = FilesProof()
        (self.answered, self.request, self.repairs) = (answered, request, repairs)
        phase = .listing(effect: effect)
    }

    mutating func listed(unknown paths: [String], isLast: Bool) {
        others += paths
        if isLast { phase = .expecting }
    }

    var isUnasked: Bool { rows == nil }
    var types: [TypeRow] {
        get { rows ?? [] }
        set { rows = newValue }
    }

    mutating func reported(_ rows: [TypeRow]) { self.rows = rows }

    /// - Parameter areGuesses: whether the files need not be there.
    mutating func expect(_ paths: Set<String>, areGuesses: Bool = false) {
        let new = paths.subtracting(others)
        others += new
        if areGuesses { guesses.formUnion(new) }
    }

    mutating func compare() { phase = .comparing }

    /// Returns true once: then the manifest is to be compared.
    mutating func takeManifest() -> Bool {
        defer { hasManifest = true }
        return !hasManifest
    }

    mutating func comparesManifest(_ effect: Int64) { phase = .manifest(effect: effect) }

    mutating func took(_ path: String?) { last = path }
    mutating func takeOther() -> String? { others.popLast() }

    /// Compares a file again later.
    mutating func postpone(_ path: String, until time: MonotonicTime) {
        others.append(path)
        notBefore = time
    }

    mutating func note(_ path: String, _ difference: FileDifference?) {
        if difference == nil, guesses.contains(path) { return }
        compared += 1
        guard let difference else { return }
        found[difference, default: (0, [])].count += 1
        if found[difference, default: (0, [])].first.count < Self.shown {
            found[difference, default: (0, [])].first.append(path)
        }
        if isRepairing {
            repairing.insert(path)
            repaired += 1
        }
    }

    /// A listing begins again; the rest goes on where it was.
    mutating func fail() {
        switch phase {
        case .listing: phase = .idle
        case .manifest: phase = .comparing
        case .idle, .expecting, .comparing, .repairing: break
        }
    }

    var isListing: Bool { if case .listing = phase { true } else { false } }

    /// Whether an effect is the proof's own.
    func waits(for effect: Int64) -> Bool { phase == .listing(effect: effect) || phase == .manifest(effect: effect) }

    /// Ends without an answer.
    mutating func stop() { phase = .idle }

    mutating func repair() { phase = .repairing }
    mutating func written(_ path: String) { repairing.remove(path) }
    /// It can't be written.
    mutating func isStuck(_ path: String) { if repairing.remove(path) != nil { repaired -= 1 } }

    mutating func end() {
        phase = .idle
        answered = request ?? answered
    }

    /// The result, for a person.
    /// - Parameter pending: how many files have yet to be written.
    func result(pending: Int) -> Value {
        var members: [String: Value] = [
            "compared": .integer(compared), "repaired": .integer(repaired), "pending": Value(pending),
        ]
        var first: [String: Value] = [:]
        for difference in FileDifference.allCases {
            members[difference.rawValue] = .integer(found[difference]?.count ?? 0)
            first[difference.rawValue] = .array((found[difference]?.first ?? []).map { .string($0) })
        }
        members["first"] = .object(first)
        return .object(members)
    }
}
