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
        case comparing
        /// What differs is being written again.
        case repairing
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
        if isLast { phase = .comparing }
    }

    mutating func took(_ path: String?) { last = path }
    mutating func takeOther() -> String? { others.popLast() }

    /// Compares a file again later.
    mutating func postpone(_ path: String, until time: MonotonicTime) {
        others.append(path)
        notBefore = time
    }

    mutating func note(_ path: String, _ difference: FileDifference?) {
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
    mutating func fail() { if case .listing = phase { phase = .idle } }

    mutating func repair() { phase = .repairing }
    mutating func written(_ path: String) { repairing.remove(path) }

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
