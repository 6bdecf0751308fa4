import HealthModel

/// What an iPhone considers before it gives an app time in the background. Pure.
package struct SystemMood: Sendable, Equatable {
    /// 0 to 1.
    package var battery = 1.0
    package var isCharging = false
    /// Heat and load, 0 to 1.
    package var load = 0.0
    package var isLowPower = false
    package var isFocused = false
    package var isOnline = true
    /// How often the app has been opened recently.
    package var opensPerDay = 2.0

    package init() {}

    /// How readily the app is given a kind of wake: 0 is never, 1 is as often as the budget allows.
    package func willingness(_ kind: WakeKind, _ model: PhoneModel) -> Double {
        // Low Power Mode turns off background app refresh, which tasks and pushes also need.
        if isLowPower, kind != .delivery { return 0 }
        let use = min(1, opensPerDay / max(0.01, model[.fullUsePerDay]))
        var will = model[.unusedShare] + (1 - model[.unusedShare]) * use
        if isCharging {
            will *= model[.chargingShare]
        } else {
            let (low, easy) = (model[.lowBatteryBelow], model[.easyBatteryAbove])
            let ease = easy > low ? min(1, max(0, (battery - low) / (easy - low))) : battery < low ? 0 : 1
            will *= model[.lowBatteryShare] + (1 - model[.lowBatteryShare]) * ease
        }
        if isLowPower { will *= model[.lowPowerShare] }
        if isFocused { will *= model[.focusShare] }
        if !isOnline { will *= model[.offlineShare] }
        will *= 1 - (1 - model[.loadShare]) * load
        return min(1, max(0, will))
    }
}

extension PhoneModel {
    /// How many wakes of a kind a willing system gives per day.
    package func wakesPerDay(_ kind: WakeKind) -> Double {
        switch kind {
        case .delivery: self[.deliveriesPerDay]
        case .refresh: self[.refreshesPerDay]
        case .push: self[.pushesPerDay]
        case .processing: self[.processingPerDay]
        }
    }

    /// The number of seconds after which a run is terminated.
    package func runSeconds(_ kind: WakeKind) -> Double {
        switch kind {
        case .delivery: self[.deliverySeconds]
        case .refresh: self[.refreshSeconds]
        case .push: self[.pushSeconds]
        case .processing: self[.processingSeconds]
        }
    }

    /// How long a change waits for its wake: the more willing the system, the shorter.
    package func deliveryDelay(
        afterTermination: Bool, isImmediate: Bool, willingness: Double, using random: inout SimulatedRandom
    ) -> Duration {
        let low = self[.deliveryDelayLowMinutes]
        let usual = afterTermination ? self[.terminatedDelayHighMinutes] : self[.deliveryDelayHighMinutes]
        let high = max(low, isImmediate ? min(usual, self[.immediateDelayHighMinutes]) : usual)
        let share = random.unit() * (1 - 0.7 * willingness)
        return .microseconds(Int64((low + (high - low) * share) * 60e6))
    }

    /// The length of the longest run among a strategy's wakes.
    package func maxRunSeconds(_ strategy: DeliveryStrategy) -> Double {
        strategy.wakes.map { runSeconds($0) }.max() ?? 0
    }
}

/// The wakes of one kind that an app may still have. The budget refills over the day, faster when the system is more
/// willing, and saves up only a few wakes.
package struct WakeBudget: Sendable, Equatable {
    /// The number per day at full willingness.
    package let perDay: Double
    package let most: Double
    package private(set) var left: Double
    private var filled: Instant

    /// - Parameter most: how many wakes may be saved up; at least one.
    package init(perDay: Double, most: Double, at now: Instant) {
        self.perDay = perDay
        self.most = max(1, most)
        left = 1
        filled = now
    }

    package mutating func refill(at now: Instant, willingness: Double) {
        let days = max(0, (now - filled).seconds / 86_400)
        left = min(most, left + perDay * willingness * days)
        filled = now
    }

    /// Takes one wake; returns false if there is none.
    /// - Parameter inAdvance: how many wakes may be taken before the budget has them.
    package mutating func spend(inAdvance: Double = 0) -> Bool {
        guard left >= 1 - inAdvance else { return false }
        left -= 1
        return true
    }
}
