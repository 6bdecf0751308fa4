import HealthModel

/// What the system plans for the app: its budgets, and which wakes are due.
struct WakeDecisions {
    var budgets: [WakeKind: WakeBudget] = [:]
    private let seed: UInt64
    /// When changes that the app doesn't know about will wake it; nil if there are none.
    var deliveryDue: Instant?
    /// Whether one of these changes is of a type that isn't held back.
    var isDeliveryImmediate = false
    var lastDelivery = Instant.distantPast
    /// How many background deliveries in a row the app hasn't completed.
    var strikes = 0
    /// When the system gave up delivering in the background; nil if it hasn't.
    var deliveryStopped: Instant?
    var nextRefresh: Instant
    var nextProcessing: Instant
    var nextPush: Instant
    /// Whether a push is waiting until the phone is used; a newer one replaces it.
    var heldPush = false
    /// Whether a notification has been posted but not seen yet.
    var hasNotification = false
    var notifications: WakeBudget

    init(_ strategy: DeliveryStrategy, model: PhoneModel, seed: UInt64, at now: Instant) {
        self.seed = seed
        for kind in strategy.wakes {
            budgets[kind] = WakeBudget(perDay: model.wakesPerDay(kind), most: model[.deliveryBurst], at: now)
        }
        nextRefresh = now + model.minutes(.refreshEarliestMinutes)
        nextProcessing = now + model.hours(.processingEarliestHours)
        nextPush = now
        notifications = WakeBudget(perDay: model[.notificationsPerDay], most: 1, at: now)
    }

    /// Draws random numbers for a kind of wake in a minute. The draws are the same whatever was drawn before and
    /// whichever other kinds a strategy uses, so that strategies differ by what they do and not by luck.
    func draw<Drawn>(_ kind: WakeKind, at now: Instant, _ body: (inout SimulatedRandom) -> Drawn) -> Drawn {
        var random = SimulatedRandom(
            seed: seed &+ UInt64(bitPattern: now.microseconds / 60_000_000), subject: 100, number: kind.rawValue)
        return body(&random)
    }

    mutating func spend(_ kind: WakeKind, inAdvance: Double = 0) -> Bool {
        budgets[kind]?.spend(inAdvance: inAdvance) ?? false
    }

    /// Forgets pending changes, as the app now knows about them all.
    mutating func forgetChanges() {
        forgetDelivery()
        hasNotification = false
    }

    mutating func forgetDelivery() {
        deliveryDue = nil
        isDeliveryImmediate = false
    }
}
