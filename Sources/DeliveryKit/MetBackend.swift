import HealthModel

/// What the destination has shown since the process began, and what that says about who answers. Pure.
package struct MetBackend {
    private let address: String
    /// A generation that answered before the current one, and answers again.
    private var returning = ReturningBackend()
    /// Whether a person's `sync` may redeliver everything before its time has come.
    package var isRedeliveryAsked = false
    /// Whether it has said that it accepts samples in columns, and hasn't refused any since.
    var takesColumns = false
    /// When it last asked for a sync.
    var syncRequested: Instant?

    /// Something that a faulty backend does repeatedly.
    package enum Unsteadiness: Sendable { case inTurn, startedOver, lacks }

    /// Who has answered.
    package enum Sender: Sendable, Equatable {
        /// The backend that deliveries go to; it has been the only one for so long that all is well again.
        case known(isWellAgain: Bool)
        /// Whoever answers first at an address.
        case first
        /// A different backend from now on.
        case other
        case unnamed
        /// It isn't known which of the servers is the backend.
        case unclear(Unsteadiness)
    }

    package init(address: String) { self.address = address }

    mutating func open(at now: MonotonicTime, isFaulty: Bool) { returning.open(at: now, isFaulty: isFaulty) }

    /// Whether the known backend answered at a different address.
    private func isMoved(_ known: KnownBackend) -> Bool { known.address.map { $0 != address } ?? false }
    /// Whether only the known generation is trusted.
    package func isBound(to known: KnownBackend) -> Bool { !isMoved(known) && known.generation != nil }

    package mutating func meet(
        _ generation: String?, _ known: KnownBackend, at time: MonotonicTime, _ now: Instant
    ) -> Sender {
        guard isBound(to: known) else {
            let isSame = generation == known.generation && (generation != nil || !isMoved(known))
            return isSame ? .known(isWellAgain: false) : .first
        }
        guard let generation else { return .unnamed }
        guard generation != known.generation else { return .known(isWellAgain: returning.present(at: time)) }
        if known.former.contains(generation), !returning.met(generation, at: time) { return .unclear(.inTurn) }
        return mayRedeliver(to: known, at: time, now) ? .other : .unclear(.startedOver)
    }

    /// Whether everything may be delivered again now, to a backend that has lost what it accepted. If not, it counts as
    /// faulty.
    package mutating func mayRedeliver(to known: KnownBackend, at time: MonotonicTime, _ now: Instant) -> Bool {
        if isRedeliveryAsked || known.redeliveries.mayBegin(at: now) { return true }
        returning.losesAgain(at: time)
        return false
    }
}
