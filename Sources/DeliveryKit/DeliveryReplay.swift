import Changelog
import HealthModel
import Protocol

/// A redelivery, for a chunk of a historical sync or for a person's request. Samples, events and days, or dead letters,
/// are delivered again, after everything live. Pure.
///
/// Versions make redelivery harmless, so its progress isn't stored: after a restart the chunk starts over. Only the
/// completion of a chunk is stored.
package struct DeliveryReplay: Sendable {
    package enum Step: Sendable, Equatable {
        case samples(user: String, from: Instant, to: Instant, position: SlicePlace?)
        /// The rows of a producer's changelog that belong to these days.
        case documents(producer: String, topic: String, days: ClosedRange<Int>, after: SequenceNumber, head: StoreHead?)
        /// The row that a dead letter is about, in that producer's changelog, if it is unchanged.
        case letter(DeadLetter, producer: String)
        /// The selected dead letters whose number is higher than a given one.
        case letters(RepairSelection, after: Int64)
        case rows(ReplayedRows)
    }

    package private(set) var id: String?
    /// The users whose days are delivered; nil for all.
    private(set) var users: Set<String>?
    package private(set) var isDone: Bool
    private var steps: [Step] = []
    /// The pull for the first step, while it isn't answered.
    private var pull: Int64?
    /// Whether a question wasn't answered with pages; if so, it is asked again when the chunk is announced again.
    private var isWaiting = false
    /// Whether a person requested the redelivery. Such a request isn't announced again, and is finished before a chunk
    /// of the historical sync continues.
    private var isByHand = false
    /// The number of elements that the redelivery has delivered or will deliver.
    package private(set) var elements: Int64 = 0
    /// How many of them the destination refused for good.
    package var refused: Int64 = 0
    /// The dead letter that is being retried, while its row hasn't been found.
    private var letter: DeadLetter?
    /// Whether a chunk of a historical sync was announced recently.
    private var isHistoryOn = false
    /// A person's request that hasn't begun yet, since a historical sync is in progress.
    package var waiting: RepairRequest?

    /// The name used for the redelivery's deliveries; no upstream has this name.
    static let name = "replay"

    /// - Parameter id: the last chunk that was completed.
    package init(done id: String? = nil) { (self.id, isDone) = (id, id != nil) }

    private var isOver: Bool { id == nil || isDone }
    /// Whether nothing is delivered again, or is to be.
    package var isIdle: Bool { isOver && waiting == nil }
    package var left: Int64 { isDone ? 0 : Int64(max(1, steps.count)) }
    var report: ReplayProgress? { id.map { ReplayProgress(id: $0, left: left) } }

    // MARK: Beginning and ending

    /// Notes which chunk is announced; returns one that is to begin.
    package mutating func hears(_ chunk: Replay?) -> Replay? {
        if chunk != nil || isByHand { isWaiting = false }
        isHistoryOn = chunk != nil
        return chunk?.id == id || isByHand && !isDone ? nil : chunk
    }

    /// Takes the waiting request, or else one of the comparison's: only one redelivery takes place at a time.
    package mutating func takeWaiting(or own: inout RepairRequest?) -> RepairRequest? {
        if isIdle { swap(&waiting, &own) }
        guard isOver || !isHistoryOn else { return nil }
        defer { waiting = nil }
        return waiting
    }

    package mutating func begin(_ id: String, users: [String: [Instant]]?, isByHand: Bool = false, steps: [Step]) {
        (self.id, self.isByHand, self.steps) = (id, isByHand, steps)
        self.users = users.map { Set($0.keys) }
        (isDone, isWaiting, pull) = (false, false, nil)
        (elements, refused) = (0, 0)
    }

    /// Forgets whatever was in transit; its answers are lost. A chunk is announced again within a second; a person's
    /// request is covered because everything is delivered again.
    package mutating func restart() {
        guard !isDone else { return }
        if isByHand { isDone = true }
        (id, steps, pull) = (nil, [], nil)
    }

    package mutating func reset() {
        let isHistoryOn = isHistoryOn
        self = DeliveryReplay()
        self.isHistoryOn = isHistoryOn
    }

    // MARK: Steps

    package var mayAsk: Bool { !isOver && !isWaiting && pull == nil }
    /// What to ask for next; nil after the last step.
    package var step: Step? { steps.first }

    /// Ends the redelivery after its last step; returns the id of a chunk, whose completion is stored.
    package mutating func finish() -> String? {
        isDone = true
        return isByHand ? nil : id
    }

    /// Leaves out a step that needs no question; returns true, since there may be another.
    @discardableResult
    package mutating func skip() -> Bool {
        steps.removeFirst()
        return true
    }

    package mutating func asked(_ pull: Int64) { self.pull = pull }

    /// Returns the step that a pull was about; nil if it was about none.
    package mutating func answered(_ pull: Int64, hasPages: Bool) -> Step? {
        guard pull == self.pull else { return nil }
        self.pull = nil
        guard hasPages else {
            isWaiting = true
            // Its store may have been lost meanwhile: what was read of it doesn't count, and its head is no place any more.
            if case .documents(let producer, let topic, let days, _, _)? = steps.first {
                steps[0] = .documents(producer: producer, topic: topic, days: days, after: .beginning, head: nil)
            }
            return steps.first
        }
        return steps.removeFirst()
    }

    /// Goes on with the rest of the step that was answered.
    package mutating func goOn(_ rest: Step) { steps.insert(rest, at: 0) }

    mutating func add(_ groups: [DeliveryGroup]) {
        elements += groups.reduce(0) { $0 + Int64($1.batch.next?.count ?? 0) }
    }

    // MARK: Dead letters

    /// Ends the retry of a letter. If its row wasn't found, it has a different version by now, or is gone.
    /// - Returns: the letter, in that case.
    package mutating func takeLetter() -> DeadLetter? {
        defer { letter = nil }
        return letter
    }

    /// - Parameters:
    ///   - letter: the next one; nil after the last.
    ///   - producers: where its row may be.
    package mutating func retry(_ letter: DeadLetter?, in producers: [String], of selection: RepairSelection) {
        self.letter = letter
        steps =
            letter.map { letter in
                producers.map { .letter(letter, producer: $0) } + [.letters(selection, after: letter.number)]
            } ?? []
    }

    /// The letter's row is found, so no other producer has it.
    package mutating func foundLetter() {
        letter = nil
        steps.removeAll { if case .letter = $0 { true } else { false } }
    }
}
