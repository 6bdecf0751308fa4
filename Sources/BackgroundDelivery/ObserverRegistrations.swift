import HealthModel

/// Which consumers to wake for which types, how far each type has been fired, and which fires are unanswered: the
/// counterpart of HealthKit's own table of background deliveries. Pure: clocks, heads and the device's state go in,
/// fires come out.
///
/// Nothing is queued. A held type is a single number, the sequence number up to which it was fired; as long as there is
/// anything beyond it, the type is due.
package struct ObserverRegistrations: Sendable, Equatable {
    /// In a registration, stands for every type that isn't named there.
    package static let everyType = "*"

    /// Says to the consumers that a type has changed. A fire carries no data: consumers ask for it.
    package struct Fire: Sendable, Equatable {
        package var type: String
        /// The sequence number of the type's latest change; 0 for a type without samples.
        package var sequence: SequenceNumber
        /// Repeated, because a consumer didn't acknowledge it in time.
        package var isRepeat: Bool
    }

    /// The result of one check of the clock.
    package struct Round: Sendable, Equatable {
        /// Sorted by type. All fires of one round count as one wake.
        package var fires: [Fire] = []
        /// Consumers that have just used up their strikes.
        package var stopped: [String] = []
        /// Changed types for which no consumer is registered; each is listed once, until a consumer registers.
        package var unheard: [String] = []
    }

    struct Consumer: Sendable, Equatable {
        /// The number of the launch at which it registered.
        var launch: Int64
        var types: [String: DeliveryFrequency]
        var isStopped = false
        /// How many consecutive fires it missed, by type.
        var strikes: [String: Int] = [:]
        /// Fires that it hasn't acknowledged; forgotten when the process ends, since `held` says what is due.
        var awaited: [String: Awaited] = [:]

        func requested(_ type: String) -> DeliveryFrequency? { types[type] ?? types[everyType] }
    }

    struct Awaited: Sendable, Equatable {
        /// The oldest and the latest sequence number fired since the last acknowledgement.
        var first: SequenceNumber
        var last: SequenceNumber
        /// When the oldest was sent, repeated, or acknowledged in part.
        var since: MonotonicTime
        /// When to repeat it; nil while there is still time to acknowledge it.
        var repeatAt: MonotonicTime?
    }

    package var limits: SystemLimits
    var consumers: [String: Consumer] = [:]
    /// Types that are off or denied, or have changes that haven't been fired, and how far each was fired.
    package internal(set) var held: [String: SequenceNumber] = [:]
    var lastFires: [String: Instant] = [:]
    /// Switched off by the user of the stack.
    package internal(set) var off: Set<String> = []
    /// Types that consumers may not read; with one app per stack, the same for all.
    package internal(set) var denied: Set<String> = []
    /// Frequencies set while running; they take precedence over what consumers ask for.
    var frequencies: [String: DeliveryFrequency] = [:]
    /// When fires and app refreshes last woke the app, at most `wakesPerHour` times.
    var wakes: [Instant] = []
    /// When the locked phone began to hold back fires.
    var lockHeldSince: Instant?
    /// Types that fire once more, changed or not: after a registration, or on entering the foreground.
    var advisory: Set<String> = []
    var unheard: Set<String> = []

    var isChanged = false
    /// `held` as it was last saved: anything held and fired in the same turn needn't be saved.
    var savedHeld: [String: SequenceNumber] = [:]
    /// Whether anything that must survive a restart has changed.
    package var needsSaving: Bool { isChanged || held != savedHeld }
    /// Whether something has changed that only others read (when a type last fired).
    package internal(set) var isWorthSaving = false

    package init(limits: SystemLimits) { self.limits = limits }

    /// Types that never fire, because they are switched off or denied.
    package var silenced: Set<String> { off.union(denied) }

    /// Whether any type will fire at the next check even though it hasn't changed.
    package var isAdvising: Bool { !advisory.isEmpty }

    /// Consumers, each with the number of the launch that it registered with.
    package var launches: [String: Int64] { consumers.mapValues(\.launch) }
    package var stoppedConsumers: [String] { consumers.filter(\.value.isStopped).keys.sorted() }
}

extension ObserverRegistrations {
    /// Registers a consumer to hear about changes. Asking again with the same launch and types changes nothing; at a new
    /// launch each registered type fires once. A launch in the foreground starts over. One in the background keeps
    /// strikes and what isn't acknowledged: an app that crashes in each wake has completed none.
    /// - Parameters:
    ///   - known: types that have samples.
    ///   - inBackground: whether the app isn't on the screen.
    /// - Returns: whether anything changed.
    @discardableResult
    package mutating func register(
        _ name: String, launch: Int64, types: [String: DeliveryFrequency], known: some Sequence<String>,
        inBackground: Bool = false
    ) -> Bool {
        let old = consumers[name]
        guard old?.launch != launch || old?.types != types else { return false }
        var new = Consumer(launch: launch, types: types)
        if let old, old.launch == launch || inBackground {
            new = old
            (new.launch, new.types) = (launch, types)
        }
        consumers[name] = new
        for type in known where new.requested(type) != nil {
            if old?.launch != launch || old?.requested(type) == nil { advisory.insert(type) }
        }
        unheard = []
        isChanged = true
        return true
    }

    /// Forgets consumers that the stack no longer has.
    package mutating func keep(_ isKept: (String) -> Bool) {
        let kept = consumers.filter { isKept($0.key) }
        if kept.count < consumers.count { isChanged = true }
        consumers = kept
    }

    /// Records that a consumer has consumed the reported changes, each type up to a sequence number.
    package mutating func acknowledge(_ name: String, _ types: [String: SequenceNumber], monotonic: MonotonicTime) {
        guard var consumer = consumers[name] else { return }
        for (type, sequence) in types {
            guard var awaited = consumer.awaited[type], sequence >= awaited.first else { continue }
            if consumer.strikes.removeValue(forKey: type) != nil { isChanged = true }
            if sequence >= awaited.last {
                consumer.awaited[type] = nil
            } else {
                awaited = Awaited(first: sequence.next, last: awaited.last, since: monotonic)
                consumer.awaited[type] = awaited
            }
        }
        consumers[name] = consumer
    }

    /// Records that types have changed since the store's head was at `before`.
    package mutating func changed(_ types: some Sequence<String>, since before: SequenceNumber) {
        for type in types where held[type] == nil { held[type] = before }
    }

    /// Records that the app has come to the foreground: every observer fires, whether or not its type has changed, and
    /// delivery that was stopped resumes.
    package mutating func enteredForeground(known: some Sequence<String>) {
        advisory.formUnion(known)
        for (name, old) in consumers {
            var consumer = old
            (consumer.awaited, consumer.strikes, consumer.isStopped) = ([:], [:], false)
            guard consumer != old else { continue }
            consumers[name] = consumer
            isChanged = true
        }
    }

    /// Records that the user has ended the app: whatever it didn't acknowledge is reported at its next launch.
    package mutating func forceQuit() {
        for name in consumers.keys { consumers[name]?.awaited = [:] }
    }
}

extension ObserverRegistrations {
    /// Stops or resumes observing a type. The type keeps the sequence number up to which it was fired, and continues
    /// from there.
    /// - Parameter head: the store's head.
    package mutating func setOff(_ isOff: Bool, _ type: String, head: SequenceNumber) {
        guard off.contains(type) != isOff else { return }
        if isOff { off.insert(type) } else { off.remove(type) }
        silence(type, head)
    }

    /// Denies or allows reading a type.
    package mutating func setDenied(_ isDenied: Bool, _ type: String, head: SequenceNumber) {
        guard denied.contains(type) != isDenied else { return }
        if isDenied { denied.insert(type) } else { denied.remove(type) }
        silence(type, head)
    }

    private mutating func silence(_ type: String, _ head: SequenceNumber) {
        isChanged = true
        if silenced.contains(type) {
            if held[type] == nil { held[type] = head }
            advisory.remove(type)
            for name in consumers.keys { consumers[name]?.awaited[type] = nil }
        }
    }

    /// Sets how often a type may wake its consumers, whatever they asked for; nil: as often as they ask.
    package mutating func setFrequency(_ frequency: DeliveryFrequency?, _ type: String) {
        guard frequencies[type] != frequency, frequency == nil || Self.canWake(type) else { return }
        frequencies[type] = frequency
        isChanged = true
    }

    /// The highest frequency that any consumer requested for a type; nil when none is registered for it, or it can't
    /// wake them.
    package func requested(_ type: String) -> DeliveryFrequency? {
        consumers.values.compactMap { requested(type, by: $0) }.min()
    }

    /// The frequency that is granted.
    package func effective(_ type: String) -> DeliveryFrequency? {
        requested(type)?.clamped(to: limits.floor(of: type))
    }

    /// Whether a type's changes may wake an app. Correlations (blood pressure, food) can't be registered for background
    /// delivery (Apple's page of `enableBackgroundDelivery`): in the background they are fired along with other types,
    /// such as their parts.
    package static func canWake(_ type: String) -> Bool { HealthType.named(type).kind != .correlation }

    /// Whether a consumer is registered for a type, including those that can't wake it.
    package func isRegistered(_ type: String) -> Bool { consumers.values.contains { $0.requested(type) != nil } }

    func requested(_ type: String, by consumer: Consumer) -> DeliveryFrequency? {
        guard Self.canWake(type), let requested = consumer.requested(type) else { return nil }
        return frequencies[type] ?? requested
    }

    /// The state of a type, for people.
    package enum TypeState: String, Sendable {
        case on, off
        /// No consumer is registered for it in the background.
        case unregistered
        /// All its consumers have failed to acknowledge, and have used up their strikes.
        case stopped
        /// Changes are waiting to be fired.
        case waiting
    }

    /// A denial isn't revealed: it looks like a type without data.
    package func state(_ type: String) -> TypeState {
        if off.contains(type) { return .off }
        let registered = consumers.values.filter { $0.requested(type) != nil }
        if registered.isEmpty { return .unregistered }
        if registered.allSatisfy(\.isStopped) { return .stopped }
        return held[type] == nil || denied.contains(type) ? .on : .waiting
    }

    /// Types mentioned by name.
    package var namedTypes: Set<String> {
        consumers.values.reduce(into: silenced.union(frequencies.keys)) { $0.formUnion($1.types.keys) }
            .subtracting([Self.everyType])
    }

    package func lastFire(_ type: String) -> Instant? { lastFires[type] }
    package func strikes(_ type: String) -> Int { consumers.values.compactMap { $0.strikes[type] }.max() ?? 0 }

    /// Whether a consumer may read a type. Only the owner of the stack learns that a type is denied: consumers see only
    /// `requested`.
    package func authorization(_ type: String, for consumer: String) -> AuthorizationStatus {
        if denied.contains(type) { return .denied }
        return consumers[consumer]?.requested(type) == nil ? .notDetermined : .requested
    }
}
