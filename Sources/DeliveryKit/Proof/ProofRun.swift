import HealthModel
import Protocol

/// One comparison, element by element, of what was delivered with what the destination keeps. Pure: pages go in, and
/// `step` says which to get next.
///
/// Both sides are first folded (`ElementFold`); then the parts that differ are read again, a limited number of rows at a
/// time, so memory stays flat. How far delivery has got is noted first, and rows are read after what the destination
/// keeps, so a change made meanwhile is never mistaken for a difference.
struct ProofRun {
    enum Step: Equatable {
        /// The rows of a source's changelog after a sequence number.
        case ours(source: Int, after: SequenceNumber)
        case theirs(HeldQuestion)
        case done
    }

    /// A producer whose elements are delivered.
    struct Source {
        var producer: String
        var isSamples: Bool
        /// How much of it has been delivered.
        var delivered: AnchorVector
    }

    enum Phase { case fold, holdings, copies, details, rows }

    let scope: ProofScope
    let sources: [Source]
    /// The lists that all producers of which are among the sources: only these are complete here.
    let lists: [HeldList]
    /// Whether a part that differs in nothing but versions is read element by element too.
    let isThorough: Bool
    /// Whether the destination keeps versions, and tombstones.
    let keepsVersions: Bool
    /// Whether to look for samples that the destination holds twice, which takes 16 MiB.
    let findsTwins: Bool

    var step: Step
    var report = VerifyReport()
    /// What to deliver again; what differs because somebody else wrote it, or a store that was lost; and what would need
    /// a new version to come back from its deletion: sequence numbers by producer.
    var again: [String: [SequenceNumber]] = [:]
    var contested: [String: [SequenceNumber]] = [:]
    var revivable: [String: [SequenceNumber]] = [:]
    /// Of the contested and revivable ones, those that a person has to decide about.
    var undecided = 0
    /// The lists in which each producer has something.
    var listsOf: [String: Set<HeldList>] = [:]
    /// The highest version that the destination keeps in each list.
    var highest: [HeldList: Int64] = [:]
    /// How many rows have been read.
    var rows: Int64 = 0

    var phase = Phase.fold
    var users: [String: Int] = [:]
    var fold = ElementFold()
    var questions: [HeldQuestion] = []
    var generation: String?
    /// The last id of the pages before.
    var lastID: SampleID?
    /// How many pages the current question has had, and one of their cursors.
    var pages = 0
    var remembered: String?
    var seen: SeenTwice?
    var twins = Twins()
    var batches: [[ElementFold.Part]] = []
    var batch: Set<ElementFold.Part> = []
    var theirs: [ElementKey: HeldVersion] = [:]

    /// How many rows are examined in one pass over the parts that differ.
    static let rowsPerBatch = 200_000

    /// - Parameter known: people of whom something was delivered.
    init(
        _ scope: ProofScope, of sources: [Source], users known: Set<String> = [], lists: [HeldList] = HeldList.allCases,
        isThorough: Bool = true, keepsVersions: Bool = true, findsTwins: Bool = false
    ) {
        (self.lists, self.isThorough, self.keepsVersions) = (lists, isThorough, keepsVersions)
        (self.scope, self.sources) = (scope, sources)
        self.findsTwins = findsTwins && scope.isWhole
        step = sources.isEmpty ? .done : .ours(source: 0, after: .beginning)
        // Those of whom nothing is left here are asked about too.
        for user in known.sorted() where scope.holds(user: user) { _ = index(of: user) }
    }

    /// Facts that only the stage knows.
    struct Facts {
        var contents: ContentOf
        /// Which of a group's elements aren't delivered at present.
        var off: (DeliveryGroup) -> (Int) -> Bool
        /// Whether an element that differs may replace what is there without a person's request.
        var mayReplace: (_ producer: String, _ user: String) -> Bool
        /// What became of an element that the destination refused.
        var refusal: (_ user: String, _ id: String) throws -> Refusal?
    }

    // MARK: What was delivered

    /// - Parameter next: the sequence number to continue after; nil at the end of the source.
    mutating func take(ours groups: [DeliveryGroup], next: SequenceNumber?, _ facts: Facts) throws {
        guard case .ours(let source, _) = step else { return }
        for group in groups where scope.holds(user: group.user) { try take(group, of: sources[source], facts) }
        if let next {
            step = .ours(source: source, after: next)
        } else if let following = sources.indices.first(where: { $0 > source && isWanted($0) }) {
            step = .ours(source: following, after: .beginning)
        } else if phase == .fold {
            ask(
                .holdings,
                names.flatMap { user in
                    lists.map {
                        HeldQuestion(list: $0, user: user, after: $0 == .samples ? scope.ids(of: user).before : nil)
                    }
                })
        } else {
            endOfBatch()
        }
    }

    /// Whether a source has to be read in this phase.
    func isWanted(_ source: Int) -> Bool {
        phase == .fold
            || batch.contains { ($0.list == .samples) == sources[source].isSamples }
            || sources[source].isSamples && twins.isWaiting
    }

    private mutating func take(_ group: DeliveryGroup, of source: Source, _ facts: Facts) throws {
        let user = index(of: group.user)
        let (list, range) = (group.heldList, scope.ids(of: group.user))
        let (contents, isOff) = (try facts.contents(group), facts.off(group))
        guard lists.contains(list) else { return }
        listsOf[source.producer, default: []].insert(list)
        var here: [String?: Int] = [:]
        for row in 0..<group.count {
            rows += 1
            let (key, type, sequence) = (group.key(row, user: user), group.type(row), group.sequence(row))
            guard list == .samples ? range.holds(key.id) : scope.holds(group.day(row)) else { continue }
            let isDeleted = group.deletes(row)
            let held = HeldVersion(
                version: sequence.value, isDeleted: isDeleted, content: isDeleted ? nil : contents[row])
            let isPending = sequence > type.map { source.delivered[$0] } ?? source.delivered.base
            if phase == .fold {
                if isPending {
                    report.users[user].lists[list.rawValue, default: .init()].note(
                        isOff(row) ? .off : .pending, key.name, type: type)
                } else {
                    guard !isOff(row) else {
                        if !isDeleted {
                            report.users[user].lists[list.rawValue, default: .init()].note(.off, key.name, type: type)
                        }
                        continue
                    }
                    if list == .samples || !isDeleted { here[type, default: 0] += 1 }
                    // An element without content isn't delivered at all.
                    if isDeleted ? keepsVersions : contents[row] != nil { fold.add(key, held, .ours) }
                }
            } else if isPending {
                // The version that was delivered before may be there. A higher one would keep this one out.
                let finding = theirs.removeValue(forKey: key).flatMap { VerifyFinding.of(held, $0) }
                guard keepsVersions, finding?.remedy() == .decision, !isOff(row),
                    facts.mayReplace(source.producer, group.user)
                else { continue }
                contested[source.producer, default: []].append(sequence)
            } else {
                if !isDeleted { twins.isHere(key) }
                guard batch.contains(key.part), isDeleted || contents[row] != nil else { continue }
                guard !isOff(row) else {
                    theirs[key] = nil
                    continue
                }
                try judge(held, key, group, row, sequence, source, facts)
            }
        }
        for (type, count) in here {
            report.users[user].lists[list.rawValue, default: .init()].isHere(count, type: type)
        }
    }

    private mutating func judge(
        _ held: HeldVersion, _ key: ElementKey, _ group: DeliveryGroup, _ row: Int, _ sequence: SequenceNumber,
        _ source: Source, _ facts: Facts
    ) throws {
        let other = theirs.removeValue(forKey: key)
        guard var finding = VerifyFinding.of(held, other) else { return }
        // A destination without versions keeps no tombstones either: what isn't there is deleted.
        if !keepsVersions, finding == .missingDeletion { return }
        if let refusal = try facts.refusal(group.user, key.name) {
            finding = VerifyFinding.of(held, other, refusal: refusal) ?? finding
        }
        let type = group.type(row)
        let name = key.list.rawValue
        report.users[key.user].lists[name, default: .init()].note(finding, key.name, type: type)
        if finding.isUndelivered, key.list == .samples || !held.isDeleted {
            report.users[key.user].lists[name, default: .init()].isHere(-1, type: type)
        }
        switch finding.remedy(keepsVersions: keepsVersions) {
        case .delivery: again[source.producer, default: []].append(sequence)
        case .decision where facts.mayReplace(source.producer, group.user):
            contested[source.producer, default: []].append(sequence)
        // Days and nights follow from the samples; a sample or workout that was deleted stays so.
        case nil where finding == .deletedLater && (key.list == .days || key.list == .nights):
            revivable[source.producer, default: []].append(sequence)
        case .decision: undecided += 1
        case nil: break
        }
    }

    /// The people, by index.
    var names: [String] { report.users.map(\.name) }

    mutating func index(of user: String) -> Int {
        if let index = users[user] { return index }
        users[user] = report.users.count
        report.users.append(VerifyReport.User(name: user))
        return report.users.count - 1
    }
}

/// Why a comparison can't go on; trying again later may help.
enum ProofProblem: Error {
    case startedOver, endless, disordered

    var text: String {
        switch self {
        case .startedOver: "it started over while it was being read"
        case .endless: "its pages don't come to an end"
        case .disordered: "its ids don't come in order"
        }
    }
}
