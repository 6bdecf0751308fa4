import HealthModel

/// What a comparison found: counts and a few ids, never a value.
package struct VerifyReport: Sendable, Equatable {
    /// The counts for one list, or for one type of sample.
    package struct List: Sendable, Equatable {
        /// How many elements have been delivered: for samples, including deleted ones; for other lists, only those that
        /// aren't deleted. What was refused, waits or is left out isn't included.
        package var here = 0
        /// How many elements the destination keeps of the requested days, including deleted ones; for samples, known only
        /// for all types together. Workouts and nights that only the destination has are left out if days are requested.
        package var there = 0
        package private(set) var counts: [VerifyFinding: Int] = [:]
        package private(set) var first: [VerifyFinding: [String]] = [:]
        package private(set) var types: [String: List] = [:]
        /// Whether more elements occurred twice than can be examined, so that the number of duplicates is only a lower
        /// bound.
        package var isDoubledCut = false

        private static let shown = 5

        package init() {}

        package mutating func note(_ finding: VerifyFinding, _ id: String) {
            counts[finding, default: 0] += 1
            if first[finding, default: []].count < Self.shown { first[finding, default: []].append(id) }
        }

        /// Counts an element here, or takes one out; for samples by type too.
        mutating func isHere(_ change: Int, type: String?) {
            here += change
            if let type { types[type, default: List()].here += change }
        }

        mutating func note(_ finding: VerifyFinding, _ id: String, type: String?) {
            note(finding, id)
            if let type { types[type, default: List()].note(finding, id) }
        }
    }

    package struct User: Sendable, Equatable {
        package var name: String
        /// By `HeldList`.
        package var lists: [String: List] = [:]
        package var quarantined: Int

        package init(name: String, quarantined: Int = 0) { (self.name, self.quarantined) = (name, quarantined) }
    }

    package var address: String
    /// The instance that delivers to this address.
    package var destination: String
    /// What people call the destination, after "the".
    package var word = "backend"
    package var from: LocalDay?
    package var to: LocalDay?
    package var users: [User] = []
    package var seconds = 0.0
    /// Whether the destination reports contents, so that contents were compared, not only ids and versions.
    package var comparesContents = true
    /// The lists that weren't compared, each with the processes whose elements it has and that aren't responding.
    package var uncompared: [String: [String]] = [:]
    /// What was found of a folder's files, instead of `users`.
    package var files: Files?
    /// How many elements `--repair` delivers again.
    package var repairable = 0
    /// How many elements `--repair` delivered again before this comparison; nil without it.
    package var repaired: Int?

    package init(address: String = "", destination: String = "", from: LocalDay? = nil, to: LocalDay? = nil) {
        (self.address, self.destination) = (address, destination)
        (self.from, self.to) = (from, to)
    }

    package func count(_ finding: VerifyFinding) -> Int {
        users.reduce(0) { sum, user in sum + user.lists.values.reduce(0) { $0 + ($1.counts[finding] ?? 0) } }
    }

    /// How many elements the destination doesn't hold as they were delivered, or holds more than once.
    package var wrong: Int { VerifyFinding.allCases.reduce(0) { $0 + ($1.isWrong ? count($1) : 0) } }

    /// Whether everything was compared, the destination holds what was delivered, nothing is a dead letter, and nothing waits. What a person
    /// dropped and what isn't delivered at all (`off`) doesn't count.
    package var isRight: Bool {
        if let files { return files.wrong == repaired ?? 0 && files.pending == 0 }
        return uncompared.isEmpty && wrong == 0 && count(.deadLetter) == 0 && count(.pending) == 0
    }

    package var value: Value {
        if let files { return files.value(right: isRight, destination: address, repaired: repaired, seconds: seconds) }
        return [
            "backend": .string(address), "from": Value(from?.description), "to": Value(to?.description),
            "right": .bool(isRight), "contents": .bool(comparesContents), "repairable": Value(repairable),
            "repaired": Value(repaired), "uncompared": uncomparedValue,
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

    /// As a destination's process answers.
    package var uncomparedValue: Value {
        .object(uncompared.mapValues { names in .array(names.map { .string($0) }) })
    }

    package mutating func noteUncompared(_ value: Value) {
        uncompared = (value.object ?? [:]).mapValues { ($0.array ?? []).compactMap(\.string) }
    }

    package static let lists = HeldList.allCases.map(\.rawValue)
}

extension VerifyReport.User {
    /// As a destination's file and answers hold it.
    package var value: Value { ["user": .string(name), "lists": .object(lists.mapValues(\.value))] }

    package init(_ value: Value) {
        self.init(name: value["user"].string ?? "")
        lists = (value["lists"].object ?? [:]).mapValues { VerifyReport.List($0) }
    }
}

extension VerifyReport.List {
    package var value: Value {
        var members: [String: Value] = [
            "here": Value(here), "there": Value(there), "findings": findings,
        ]
        if isDoubledCut { members["doubledCut"] = true }
        if !types.isEmpty {
            members["types"] = .object(types.mapValues { ["here": Value($0.here), "findings": $0.findings] })
        }
        return .object(members)
    }

    fileprivate init(_ value: Value) {
        here = Int(value["here"].int ?? 0)
        there = Int(value["there"].int ?? 0)
        isDoubledCut = value["doubledCut"].bool ?? false
        for (name, found) in value["findings"].object ?? [:] {
            guard let finding = VerifyFinding(rawValue: name) else { continue }
            counts[finding] = Int(found["count"].int ?? 0)
            first[finding] = (found["first"].array ?? []).compactMap(\.string)
        }
        types = (value["types"].object ?? [:]).mapValues { VerifyReport.List($0) }
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
