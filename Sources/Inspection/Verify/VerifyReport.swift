import Foundation
import HealthModel

/// The result of `healthbus verify`: counts and a few ids, never a value.
package struct VerifyReport: Sendable {
    /// The counts for one list, or for one type of sample.
    package struct List: Sendable {
        /// How many elements have been delivered: for samples, including deleted ones; for other lists, only those that
        /// aren't deleted. What was refused, waits or is left out isn't included.
        package var here = 0
        /// How many elements the backend keeps of the requested days, including deleted ones; for samples, known only for
        /// all types together. Workouts and nights that only the backend has are left out if days are requested.
        package var there = 0
        package private(set) var counts: [VerifyFinding: Int] = [:]
        package private(set) var first: [VerifyFinding: [String]] = [:]
        package private(set) var types: [String: List] = [:]
        /// Whether more elements occurred twice than can be examined, so that the number of duplicates is only a lower
        /// bound.
        package var isDoubledCut = false

        private static let shown = 5

        mutating func note(_ finding: VerifyFinding, _ id: String) {
            counts[finding, default: 0] += 1
            if first[finding, default: []].count < Self.shown { first[finding, default: []].append(id) }
        }

        mutating func add(_ list: List, as type: String) {
            types[type] = list
            here += list.here
            for (finding, count) in list.counts {
                counts[finding, default: 0] += count
                let room = Self.shown - first[finding, default: []].count
                first[finding, default: []] += (list.first[finding] ?? []).prefix(max(0, room))
            }
        }
    }

    package struct User: Sendable {
        package var name: String
        /// Keyed by "samples", "workouts", "nights" or "days".
        package var lists: [String: List] = [:]
        package var quarantined: Int
    }

    package let address: String
    /// The instance that delivers to this address.
    package let destination: String
    package let from: LocalDay?
    package let to: LocalDay?
    package var users: [User] = []
    /// What to deliver again: sequence numbers by producer.
    package var again: [String: [SequenceNumber]] = [:]
    package var seconds = 0.0
    /// Whether the backend provides contents, so that contents were compared, not only ids and versions.
    package var comparesContents = true
    /// How many elements `--repair` delivered again before this comparison; nil without it.
    package var repaired: Int?

    init(address: String, destination: String, from: LocalDay?, to: LocalDay?) {
        (self.address, self.destination) = (address, destination)
        (self.from, self.to) = (from, to)
    }

    package func count(_ finding: VerifyFinding) -> Int {
        users.reduce(0) { sum, user in sum + user.lists.values.reduce(0) { $0 + ($1.counts[finding] ?? 0) } }
    }

    /// Whether the backend has everything that was delivered to it, only once and in the version held here.
    var holdsDelivered: Bool { VerifyFinding.allCases.allSatisfy { !$0.isWrong || count($0) == 0 } }

    /// Whether the backend holds what was delivered, nothing is a dead letter, and nothing waits. What a person dropped
    /// and what isn't delivered at all (`off`) doesn't count.
    package var isRight: Bool { holdsDelivered && count(.deadLetter) == 0 && count(.pending) == 0 }

    /// How many elements `--repair` would deliver again.
    package var repairable: Int { again.values.reduce(0) { $0 + $1.count } }

    package var value: Value {
        [
            "backend": .string(address), "from": Value(from?.description), "to": Value(to?.description),
            "right": .bool(isRight), "contents": .bool(comparesContents), "repairable": Value(repairable),
            "repaired": Value(repaired),
            "seconds": .number(seconds),
            "users": .array(
                users.map { user in
                    [
                        "user": .string(user.name), "quarantined": Value(user.quarantined),
                        "lists": .object(user.lists.mapValues(\.value)),
                    ]
                }),
        ]
    }

    static let lists = ["samples", "workouts", "nights", "days"]
}

extension VerifyReport.List {
    var value: Value {
        var members: [String: Value] = [
            "here": Value(here), "there": Value(there), "findings": findings,
        ]
        if !types.isEmpty {
            members["types"] = .object(types.mapValues { ["here": Value($0.here), "findings": $0.findings] })
        }
        return .object(members)
    }

    private var findings: Value {
        .object(
            Dictionary(
                uniqueKeysWithValues: counts.map { finding, count in
                    (
                        finding.rawValue,
                        ["count": Value(count), "first": .array((first[finding] ?? []).map { .string($0) })]
                    )
                }))
    }
}
