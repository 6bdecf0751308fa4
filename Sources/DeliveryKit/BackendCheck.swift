import HealthModel

/// When to compare what the backend holds with what it accepted, and the state of that comparison. (The result is
/// stored in `KnownBackend`.)
struct BackendCheck: Sendable {
    /// What was known when the current question was sent, for comparison with the answer.
    struct Asked: Sendable {
        var known: KnownBackend
        var isBound: Bool
        var command: String?
        var countsRows: Bool
    }

    /// The current question, if any.
    private(set) var effect: Int64?
    private(set) var asked: Asked?
    /// When to compare next, unless somebody asks sooner.
    private(set) var due = MonotonicTime.distantPast
    /// The id of a request that hasn't been answered yet.
    private var wanted: String?
    /// The request that was answered last, even if the answer was only a reason why the backend can't be compared.
    private(set) var answered: String?
    /// Whether the backend has been compared since this process began.
    private(set) var isDone = false
    /// The number of deliveries so far, then the number when the current question was sent, and the number when the
    /// question of the last successful comparison was sent.
    private var deliveries = 0
    private var covered = 0
    private var compared = 0
    /// After a delivery, the next comparison takes place no sooner than this.
    private var soonest = MonotonicTime.distantPast
    /// The time between comparisons that follow deliveries: so a backend isn't asked after each sample of a steady stream,
    /// while a command that waits for the end of an import, which is delivered in a few requests, isn't held up.
    private var spacing = BackOff(Duration.milliseconds(250), upTo: .seconds(60))
    /// Why the backend can't be compared at present; nil when it can.
    private(set) var why: String?
    private(set) var refreshesToken = false
    private var hasRefreshedToken = false
    /// The first retry comes soon: in a stack that is starting, the backend may be ready a moment later.
    private var retry = BackOff(Duration.milliseconds(100), upTo: .seconds(60))
    /// Whether to compare again as soon as everything has been delivered.
    var followsRedelivery = false

    /// When the backend last counted its rows.
    private var counted: MonotonicTime?

    /// Whether something was delivered after the last comparison began, so that the comparison doesn't cover it.
    private var isStale: Bool { compared < deliveries }
    /// Whether a comparison has covered everything delivered.
    var isCurrent: Bool { isDone && !isStale && !followsRedelivery }

    mutating func delivered() { deliveries += 1 }

    /// Called when everything is delivered: whatever was delivered since the last comparison is compared, at once after
    /// a redelivery, otherwise not too often.
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

    /// Whether the next question should make the backend count its rows. The backend should count them at the start and
    /// whenever a person asks, but otherwise no more often than `every`.
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

    /// Records that an answer has arrived, whatever its content; returns what to compare it with.
    mutating func answer() -> Asked? {
        defer { cancel() }
        if let command = asked?.command { settle(command) }
        return asked
    }

    private mutating func settle(_ command: String) {
        answered = command
        if wanted == command { wanted = nil }
    }

    /// - Parameter next: the longest time until the next comparison; a delivery or a command may cause one sooner.
    mutating func isCompared(_ asked: Asked, at now: MonotonicTime, next: Duration) {
        if asked.countsRows { counted = now }
        soonest = isDone ? now + spacing.next() : now
        isDone = true
        compared = covered
        why = nil
        due = now + next
        retry.failures = 0
        hasRefreshedToken = false
    }

    /// - Parameter wait: the delay until the next attempt; nil for one that grows with each failure.
    mutating func failed(_ why: String, at now: MonotonicTime, wait: Duration? = nil) {
        self.why = why
        let longer = retry.next()
        due = now + (wait ?? longer)
    }

    /// Records that the token was refused: it is read again and tried at once; if that fails too, every 30 s.
    mutating func refusedToken(_ why: String, at now: MonotonicTime) {
        guard hasRefreshedToken else {
            (hasRefreshedToken, refreshesToken) = (true, true)
            due = now
            return
        }
        refreshesToken = true
        failed(why, at: now, wait: .seconds(30))
    }

    /// Records that there is no network path to the backend.
    mutating func hasNoPath(_ why: String) {
        if let wanted { settle(wanted) }
        self.why = why
        // As soon as there is a path, a comparison shows whether the backend can be reached.
        due = .distantPast
    }
}

/// A generation that answered before the current one and now answers again: either the backend was restored, or there
/// are two backends behind one address.
struct ReturningBackend: Sendable {
    private var generation: String?
    private var count = 0
    /// When the current generation last answered.
    private var presentAnswered = MonotonicTime.distantPast
    /// When the answers last alternated; nil if they haven't for a while.
    private(set) var alternated: MonotonicTime?

    /// The returning generation is trusted only after this many answers, with none from the current generation for this
    /// long.
    private static let times = 5
    private static let silence = Duration.seconds(60)
    /// The backend counts as faulty for this long.
    private static let memory = Duration.seconds(3600)

    mutating func open(at now: MonotonicTime, isFaulty: Bool) {
        presentAnswered = now
        alternated = isFaulty ? now : nil
    }

    /// Records that the backend keeps losing what it accepted, which makes it as faulty as two alternating backends.
    mutating func losesAgain(at now: MonotonicTime) { alternated = now }

    /// Records an answer from the current generation; returns true when all is well again.
    mutating func present(at now: MonotonicTime) -> Bool {
        presentAnswered = now
        count = 0
        guard let alternated, now - alternated >= Self.memory else { return false }
        self.alternated = nil
        return true
    }

    /// Records an answer from another generation; returns whether it now counts as the backend's.
    mutating func met(_ other: String, at now: MonotonicTime) -> Bool {
        count = other == generation ? count + 1 : 1
        generation = other
        alternated = now
        return count >= Self.times && now - presentAnswered >= Self.silence
    }
}
