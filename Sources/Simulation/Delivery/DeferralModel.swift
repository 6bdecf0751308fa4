import HealthModel

/// How an iPhone decides when an app gets time in the background. Pure; the numbers are those that developers report,
/// and none of them is guaranteed.
///
/// Its inputs make the phone more or less willing; the willingness moves each figure within its range.
package struct DeferralModel: Sendable {
    /// What the system considers.
    package struct Inputs: Sendable, Equatable {
        /// 0 to 1.
        package var battery = 1.0
        package var isCharging = false
        /// 0 to 1.
        package var load = 0.2
        package var isLowPower = false
        package var isSleepFocus = false
        /// How often the app is opened on a normal day.
        package var opensPerDay = 2.0

        package init() {}
    }

    /// Seconds from a change to its wake while the app is in the background.
    package var backgroundDelay = 60.0...3600.0
    /// The same after the system has ended the app.
    package var terminatedDelay = 60.0...14_400.0
    /// Wakes per day; for pushes, how many of two per hour get through.
    package var wakesPerDay: [WakeKind: ClosedRange<Int>] = [
        .delivery: 1...4, .refresh: 0...3, .push: 0...48, .processing: 0...1,
    ]
    package var pushesPerHour = 2
    /// Seconds after which a run is ended.
    package var runSeconds: [WakeKind: Double] = [.delivery: 15, .refresh: 30, .push: 30, .processing: 600]

    package init() {}

    /// How readily the app is given time, 0 to 1.
    package func willingness(_ inputs: Inputs) -> Double {
        var will = 0.4 + 0.15 * min(inputs.opensPerDay, 4)
        if !inputs.isCharging { will *= 0.4 + 0.6 * min(1, inputs.battery / 0.5) }
        if inputs.isCharging { will += 0.3 }
        if inputs.isLowPower { will *= 0.3 }
        if inputs.isSleepFocus { will *= 0.6 }
        will *= 1 - 0.5 * inputs.load
        return min(1, max(0, will))
    }

    /// How many wakes of a kind a day has.
    package func budget(_ kind: WakeKind, _ inputs: Inputs, using random: inout SimulatedRandom) -> Int {
        let range = wakesPerDay[kind] ?? 0...0
        let span = Double(range.upperBound - range.lowerBound)
        let drawn = 0.5 * random.unit() + 0.5 * willingness(inputs)
        return min(range.upperBound, range.lowerBound + Int((span * drawn).rounded()))
    }

    /// How long a change waits for its wake.
    package func delay(afterTermination: Bool, _ inputs: Inputs, using random: inout SimulatedRandom) -> Duration {
        let range = afterTermination ? terminatedDelay : backgroundDelay
        let share = random.unit() * (1 - 0.7 * willingness(inputs))
        let seconds = range.lowerBound + (range.upperBound - range.lowerBound) * share
        return .microseconds(Int64(seconds * 1_000_000))
    }

    /// Whether a silent push is delivered at all.
    package func passesPush(_ inputs: Inputs, using random: inout SimulatedRandom) -> Bool {
        random.chance(0.2 + 0.6 * willingness(inputs))
    }

    package func maxRunSeconds(_ strategy: DeliveryStrategy) -> Double {
        strategy.wakes.compactMap { runSeconds[$0] }.max() ?? 0
    }
}
