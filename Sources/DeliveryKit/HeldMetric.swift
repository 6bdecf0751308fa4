import HealthModel

/// Elements of one metric that a backend refused one by one without naming them. The question is whether the fault is
/// theirs or the backend's.
///
/// Meanwhile they are held: neither settled nor dead letters. Once the backend has accepted something after them, they
/// are sent again. Elements that are refused again are bad if the backend accepts something after that refusal too. If
/// the backend accepts nothing while more than a few are refused, it is at fault, and they are sent again after a
/// while. All of this is kept in memory: after a restart the elements are sent again. Pure.
package struct HeldMetric: Sendable, Equatable {
    package enum Evidence: Sendable {
        /// The backend has accepted an element on the same path.
        case element
        /// The backend has accepted an empty request: it isn't down, but may refuse anything with content.
        case emptyRequest
    }

    package enum Conclusion: Sendable, Equatable {
        /// Elements that were sent twice are refused for good; the others are sent again.
        case believe
        /// The evidence isn't enough to condemn this many elements.
        case wait
    }

    /// How many elements became dead letters since the backend last accepted one on this path.
    package private(set) var deadLetterCount = 0
    /// The effect whose answer refused the last of the elements; answers to anything sent before it prove nothing.
    private(set) var last: Int64 = 0
    /// That of the last refusal.
    package private(set) var status: Int?
    /// How each held element was refused, by the key of the element.
    private var refusals: [String: Refusal] = [:]
    /// Nothing is sent on this path before this time.
    package private(set) var until: MonotonicTime?
    /// Whether the held elements, rather than only a probe, are sent again after that time.
    private var hearsAgain = false
    /// The number of consecutive waits; 0 while there is no sign that the backend is at fault.
    package private(set) var attempt = 0
    /// The current probe, whose answer decides.
    var probe: Probe?

    package struct Refusal: Sendable, Equatable {
        package var reason: String
        package var status: Int?
    }

    struct Probe: Sendable, Equatable {
        var effect: Int64
        var elements: Int
    }

    /// - Parameter element: the element's key.
    mutating func hold(_ element: String, effect: Int64, _ reason: String, status: Int?) {
        last = effect
        self.status = status
        refusals[element] = Refusal(reason: reason, status: status)
    }

    /// Takes out an element that becomes a dead letter, and returns how it was refused.
    mutating func giveUp(_ element: String) -> Refusal? { refusals.removeValue(forKey: element) }

    /// Records that the probe was refused.
    mutating func refuses(_ status: Int) { self.status = status }

    /// The conclusion from what the backend has accepted while this many elements are held.
    mutating func conclude(_ evidence: Evidence, held: Int, limit: Int) -> Conclusion {
        until = nil
        if evidence == .element {
            (deadLetterCount, attempt) = (0, 0)
            return .believe
        }
        guard deadLetterCount + held <= limit else { return .wait }
        attempt = 0
        return .believe
    }

    mutating func addDeadLetters(_ count: Int) { deadLetterCount += count }

    /// - Parameter hearsAgain: whether the held elements are sent again after the wait.
    mutating func wait(until: MonotonicTime, hearsAgain: Bool) {
        self.until = until
        self.hearsAgain = hearsAgain
        attempt += 1
    }

    /// Returns true when it is time to send the held elements again.
    mutating func wakes(at now: MonotonicTime) -> Bool {
        guard let until, now >= until else { return false }
        self.until = nil
        defer { hearsAgain = false }
        return hearsAgain
    }

    mutating func tryNow() { if until != nil { until = .distantPast } }
}
