import HealthModel
import Protocol
import StageKit

/// What is known from comparing element by element; stored in the destination's file.
struct ProofRecord: Codable, Sendable, Equatable {
    /// The outcome of the last comparison.
    var last: ProofSummary?
    /// For each producer, the line of versions of which something has been delivered: the producer's generation, and the
    /// destination's.
    var begun: [String: String] = [:]
    /// For each producer, the line that this destination has been brought level with. While it is another one than the
    /// present, versions that the destination holds may come from a store that was lost or restored here, and its own
    /// may be too low.
    var settled: [String: String] = [:]
    /// Those whose elements were compared, and those of whom something has been delivered since for the first time.
    var users: Set<String> = []
    var newUsers: Set<String> = []
    /// The producers of which something never sent before in their present line was known to the destination already.
    var known: Set<String> = []
    /// Whether something indicates that the destination differs.
    var isDoubted = false
    /// How many times in a row something was repaired without being asked for.
    var rounds = 0

    /// If repairing doesn't help this many times in a row, it won't.
    static let roundLimit = 5
}

/// The comparison in progress.
struct ProofTask {
    var run: ProofRun?
    /// The question in progress: to a producer, or to the destination.
    var pull: Pull?
    var pulledAt = MonotonicTime.distantPast
    var effect: Int64?
    /// The head of each source when its last reading began.
    var heads: [String: StoreHead] = [:]
    /// A person's request, and how many elements were repaired for it.
    var request: RepairRequest?
    var repaired = 0
    /// How much was wrong when one round couldn't repair all of it; nil if it could.
    var unfinished: Int64?
    /// What became of the person's last request.
    var result: (id: String, state: RepairOutcome)?
    /// The lines, the new ones, and the new people when the comparison began.
    var lines: [String: String] = [:]
    var new: Set<String> = []
    var newUsers: Set<String> = []
    /// How many elements were delivered since it began.
    private var deliveredMeanwhile = 0
    /// What is delivered again because of it; a person's request comes first.
    var replay: RepairRequest?
    /// Producers that have to give out new versions, the requests for it, and when they were made.
    var renewing: [String: Renewal] = [:]
    var renewals: [Pull] = []
    var asked = MonotonicTime.distantPast
    /// When the process began.
    var opened = MonotonicTime.distantPast
    /// How many comparisons in a row found something that isn't repaired.
    var doubts = 0
    /// Producers that gave out new versions, and how far they have to be delivered before the next comparison.
    var awaited: [String: SequenceNumber] = [:]
    /// Whether somebody waits for an indication to be looked into.
    var isHurried = false
    /// Whether the last comparison left out the lists of a producer that wasn't heard.
    var isPartial = false
    /// New people of whom only a part was compared: until it is all of it, what differs in that part isn't replaced again.
    var partlyNew: Set<String> = []
    /// How many times in a row the destination couldn't say what it keeps, although it once did.
    var inabilities = 0
    /// Nothing is compared before this, unless a person asks.
    var retryAt = MonotonicTime.distantPast
    private var retry = BackOff(Duration.seconds(1), upTo: .seconds(3600))
    var hasRefreshedToken = false
    /// Why it can't be compared at present; nil when it can.
    private(set) var why: String?

    mutating func failed(_ why: String, at now: MonotonicTime, wait: Duration? = nil) {
        drop()
        renewing = [:]
        awaited = [:]
        self.why = why
        let longer = retry.next()
        retryAt = now + (wait ?? longer)
        guard let request else { return }
        result = (request.id, .refused("what was delivered can't be compared: \(why)"))
        self.request = nil
    }

    mutating func succeeded() {
        drop()
        why = nil
        retry.failures = 0
        inabilities = 0
    }

    /// Of what is delivered meanwhile, everything seems to differ until its rows have been read, batch by batch: a
    /// comparison that began in a pause of a large import begins again after it.
    mutating func noteDelivered(_ count: Int) {
        guard run != nil, request == nil else { return }
        deliveredMeanwhile += count
        if deliveredMeanwhile > ProofRun.rowsPerBatch { drop() }
    }

    /// A new line, or a new person, has to be compared after this: one comparison of everything will do.
    mutating func noteNewLine() {
        if request == nil { drop() }
    }

    mutating func drop() {
        deliveredMeanwhile = 0
        (run, pull, effect) = (nil, nil, nil)
        hasRefreshedToken = false
    }
}
