import HealthModel

/// When what the backend holds is compared with what it took, and how far that is. (What came of it is kept in `KnownBackend`.)
struct BackendCheck: Sendable {
    /// What was known when the question under way was sent: it is compared with that.
    struct Asked: Sendable {
        var known: KnownBackend
        var isBound: Bool
        var command: String?
        var countsRows: Bool
    }

    /// The question under way, if any.
    private(set) var effect: Int64?
    private(set) var asked: Asked?
    /// Not before, unless somebody asks for it.
    private(set) var due = MonotonicTime.distantPast
    /// What somebody has asked for and hasn't been answered yet.
    private var wanted: String?
    /// The request that was answered last, also by why it can't be compared.
    private(set) var answered: String?
    /// Whether it has been compared since this process began.
    private(set) var isDone = false
    /// Deliveries so far; how many of them there were when the question under way was sent, and when the last one that was answered was.
    private var deliveries = 0
    private var covered = 0
    private var compared = 0
    /// What was delivered is compared no sooner than this.
    private var soonest = MonotonicTime.distantPast
    private var spacing = Duration.zero
    /// Why it can't be compared at present; nil when nothing keeps it from that.
    private(set) var why: String?
    private(set) var refreshesToken = false
    private var hasRefreshedToken = false
    private var attempt = 0
    /// It is to be compared again as soon as all is delivered.
    var followsRedelivery = false

    /// When the backend last counted its rows.
    private var counted: MonotonicTime?

    /// Short: in a stack that starts, the backend may be ready a moment later.
    private static let firstRetry = Duration.milliseconds(100)
    private static let longestRetry = Duration.seconds(60)
    /// Between comparisons that deliveries lead to: this at first, doubled each time. A backend isn't asked after each sample of a steady stream; and
    /// whoever waits for the end of an import, which is delivered in a few goes, doesn't wait for this.
    private static let firstSpacing = Duration.milliseconds(250)
    private static let longestSpacing = Duration.seconds(60)

    /// Something was delivered since the last comparison began: it says nothing of that.
    private var isStale: Bool { compared < deliveries }
    /// Whether all that was delivered has been compared.
    var isCurrent: Bool { isDone && !isStale && !followsRedelivery }

    mutating func delivered() { deliveries += 1 }

    /// All is delivered: what was since the last comparison is compared, at once after a redelivery, else not too often.
    mutating func compareSoon(at now: MonotonicTime) {
        guard isDone, effect == nil, why == nil, followsRedelivery || isStale else { return }
        if followsRedelivery {
            (followsRedelivery, due) = (false, now)
            delivered()
        } else {
            due = min(due, max(now, soonest))
        }
    }

    mutating func want(_ command: String) {
        guard command != answered else { return }
        wanted = command
    }

    func isDue(at now: MonotonicTime) -> Bool { effect == nil && (now >= due || wanted != nil) }

    /// Whether the next question is to have the backend count its rows: at the start, whenever a person asks, else no sooner than after `every`.
    func countsRows(at now: MonotonicTime, every: Duration) -> Bool {
        wanted != nil || counted.map { now - $0 >= every } ?? true
    }

    mutating func begin(_ effect: Int64, _ known: KnownBackend, isBound: Bool, countsRows: Bool) {
        self.effect = effect
        asked = Asked(known: known, isBound: isBound, command: wanted, countsRows: countsRows)
        refreshesToken = false
        covered = deliveries
    }

    mutating func cancel() {
        effect = nil
        asked = nil
    }

    /// An answer has come, whatever it says; what it is to be compared with.
    mutating func answer() -> Asked? {
        defer { cancel() }
        if let command = asked?.command { settle(command) }
        return asked
    }

    private mutating func settle(_ command: String) {
        answered = command
        if wanted == command { wanted = nil }
    }

    /// - Parameter next: how long until it is compared again, whatever happens.
    mutating func isCompared(_ asked: Asked, at now: MonotonicTime, next: Duration) {
        if asked.countsRows { counted = now }
        soonest = now + spacing
        spacing = spacing == .zero ? Self.firstSpacing : min(spacing * 2, Self.longestSpacing)
        isDone = true
        compared = covered
        why = nil
        due = now + next
        attempt = 0
        hasRefreshedToken = false
    }

    /// - Parameter wait: as long as the backend asked for, if it did.
    mutating func failed(_ why: String, at now: MonotonicTime, wait: Duration? = nil) {
        self.why = why
        due = now + (wait ?? min(Self.firstRetry * (1 << min(attempt, 10)), Self.longestRetry))
        attempt += 1
    }

    /// The token is refused: it is read again, once.
    mutating func refusedToken(_ why: String, at now: MonotonicTime) {
        guard hasRefreshedToken else {
            (hasRefreshedToken, refreshesToken) = (true, true)
            due = now
            return
        }
        refreshesToken = true
        failed(why, at: now, wait: Self.longestRetry / 2)
    }

    /// There is no way to it.
    mutating func hasNoPath(_ why: String) {
        if let wanted { settle(wanted) }
        self.why = why
    }
}

/// A generation that answered before the present one, and answers again: a backend that was put back, or two of them behind one address.
struct ReturningBackend: Sendable {
    private var generation: String?
    private var count = 0
    /// When the present generation last answered.
    private var presentAnswered = MonotonicTime.distantPast
    /// When the answers last alternated; nil when they haven't for a while.
    private(set) var alternated: MonotonicTime?

    /// Before it is believed, it has answered so often, and no other for so long.
    private static let times = 5
    private static let silence = Duration.seconds(60)
    /// For so long it counts as a faulty backend.
    private static let memory = Duration.seconds(3600)

    mutating func open(at now: MonotonicTime, isFaulty: Bool) {
        presentAnswered = now
        alternated = isFaulty ? now : nil
    }

    /// It loses what it took again and again: as faulty as two in turn.
    mutating func losesAgain(at now: MonotonicTime) { alternated = now }

    /// True when it is all right again.
    mutating func present(at now: MonotonicTime) -> Bool {
        presentAnswered = now
        count = 0
        guard let alternated, now - alternated >= Self.memory else { return false }
        self.alternated = nil
        return true
    }

    /// Whether it is to be taken for the backend.
    mutating func met(_ other: String, at now: MonotonicTime) -> Bool {
        count = other == generation ? count + 1 : 1
        generation = other
        alternated = now
        return count >= Self.times && now - presentAnswered >= Self.silence
    }
}
