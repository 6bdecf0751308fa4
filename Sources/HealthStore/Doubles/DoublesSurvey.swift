import HealthModel
import SQLite

/// What an earlier release stored twice: samples of sources that were renamed, and samples that were condensed later.
package struct DoublesCounts: Sendable, Equatable {
    /// Sources that the store has under two names, with the number of samples stored under both.
    package var renamed: [NameProgress.Renaming] = []
    /// The samples that are stored under two names, by type.
    package var merged: [String: Int] = [:]
    /// The samples for which other forms stand, by type.
    package var replaced: [String: Int] = [:]

    package init() {}

    package var samples: Int { merged.values.reduce(0, +) + replaced.values.reduce(0, +) }
}

/// How far a user's samples have been searched for doubles, or repaired.
package struct DoublesProgress: Sendable {
    enum Phase: Sendable {
        case names(Place)
        case linking
        case rewriting(NameProgress)
        case forms(Place)
        case settling
        case done
    }

    /// A day of a type.
    struct Place: Sendable {
        var type = 0
        var day = Int64.min
    }

    /// Whether nothing is changed.
    package let isTrial: Bool
    /// The repair's id.
    let id: String
    var phase = Phase.names(Place())
    var survey = NameSurvey()
    /// For names that belong to one source: the source's key.
    var keys: [String: String] = [:]
    package internal(set) var counts = DoublesCounts()

    package init(id: String, isTrial: Bool) { (self.id, self.isTrial) = (id, isTrial) }

    package var isDone: Bool { if case .done = phase { true } else { false } }
}

/// How far a repair has been taken back.
package struct RepairUndo: Sendable {
    enum Phase: Sendable {
        case restoring(after: SequenceNumber, through: SequenceNumber?)
        case naming(NameProgress)
        case done
    }

    let id: String
    var phase = Phase.restoring(after: .beginning, through: nil)
    /// What is stored twice again.
    package internal(set) var counts = DoublesCounts()

    package init(id: String) { self.id = id }

    package var isDone: Bool { if case .done = phase { true } else { false } }
}

/// What a store's samples say about the names of their sources.
struct NameSurvey: Sendable {
    struct Pair: Hashable {
        var a: String
        var b: String
    }

    /// The names of each import's samples.
    private(set) var mentions: [Int: Set<String>] = [:]
    /// For each name, how many samples have which imports.
    private var samples: [String: [Set<Int>: Int]] = [:]
    /// Equal samples of two names that no import contains together, by type.
    private(set) var apart: [Pair: [String: Int]] = [:]
    private var together: [Pair: Int] = [:]

    mutating func add(_ name: String, imports: [Int]) {
        for bringer in imports { mentions[bringer, default: []].insert(name) }
        samples[name, default: [:]][Set(imports), default: 0] += 1
    }

    mutating func add(_ pair: Pair, type: String, isTogether: Bool) {
        if isTogether { together[pair, default: 0] += 1 } else { apart[pair, default: [:]][type, default: 0] += 1 }
    }

    /// Pairs of names that belong to one source: the imports that have the newer name lack the older one's samples, and
    /// have them under their own.
    /// - Parameter dates: when the exports of imports were made.
    func renamings(_ dates: [Int: Int64]) -> [(from: String, to: String, samples: [String: Int])] {
        apart.compactMap { pair, types in
            let count = types.values.reduce(0, +)
            let (from, to) = first(pair.a, dates) <= first(pair.b, dates) ? (pair.a, pair.b) : (pair.b, pair.a)
            let newer = mentions.filter { $0.value.contains(to) }.keys
            let lacking = samples[from, default: [:]].filter { $0.key.isDisjoint(with: newer) }.values.reduce(0, +)
            guard count > together[pair] ?? 0, count * 10 >= lacking - count else { return nil }
            return (from, to, types)
        }.sorted { ($0.from, $0.to) < ($1.from, $1.to) }
    }

    /// When the first export with a name was made; names that no export has come last.
    func first(_ name: String, _ dates: [Int: Int64]) -> Int64 {
        mentions.filter { $0.value.contains(name) }.keys.compactMap { dates[$0] }.min() ?? .max
    }
}
