import HealthModel

/// Elements of one metric that a backend refused one by one without naming them: is it them, or the backend?
///
/// They are held, neither settled nor buried. Once the backend has taken something after them, they are sent once more; those that are refused again, with
/// something taken after that too, are bad. If it takes nothing for more than a few of them, it is the backend, and they are sent again after a while. All
/// of it is in memory: whoever begins anew sends them again. Pure.
struct Suspicion: Sendable, Equatable {
    enum Evidence: Sendable {
        /// It has taken an element by the same path.
        case element
        /// It has taken a request without any: it isn't down, but may refuse whatever has content.
        case emptyRequest
    }

    enum Conclusion: Sendable, Equatable {
        /// Those that were sent twice are refused for good; the others are sent once more.
        case believe
        /// It proves too little for so many.
        case wait
    }

    /// Put aside since the backend last took an element by this path.
    private(set) var buried = 0
    /// The effect whose answer refused the last of them; what was sent before it proves nothing.
    private(set) var last: Int64 = 0
    private(set) var status: Int?
    /// Nothing is sent by this path before this time.
    private(set) var until: MonotonicTime?
    /// When that is over they are sent again, not only asked for.
    private(set) var hearsAgain = false
    /// Waits in a row; 0 while nothing speaks against the backend.
    private(set) var attempt = 0
    /// The request under way that is to tell.
    var probe: Probe?

    struct Probe: Sendable, Equatable {
        var effect: Int64
        var elements: Int
    }

    mutating func hold(effect: Int64, status: Int?) {
        last = effect
        self.status = status
    }

    /// The probe is refused.
    mutating func refuses(_ status: Int) { self.status = status }

    /// What the backend has taken, with so many held.
    mutating func conclude(_ evidence: Evidence, held: Int, limit: Int) -> Conclusion {
        until = nil
        if evidence == .element {
            (buried, attempt) = (0, 0)
            return .believe
        }
        guard buried + held <= limit else { return .wait }
        attempt = 0
        return .believe
    }

    mutating func bury(_ count: Int) { buried += count }

    /// - Parameter hearsAgain: whether the held ones are to be sent again then.
    mutating func wait(until: MonotonicTime, hearsAgain: Bool) {
        self.until = until
        self.hearsAgain = hearsAgain
        attempt += 1
    }

    /// True when what is held is to be sent again.
    mutating func wakes(at now: MonotonicTime) -> Bool {
        guard let until, now >= until else { return false }
        self.until = nil
        defer { hearsAgain = false }
        return hearsAgain
    }

    mutating func tryNow() { if until != nil { until = .distantPast } }
}
