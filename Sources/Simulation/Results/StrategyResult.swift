import HealthModel

/// What a strategy can do: in which states of the app and the phone it gets time, and why.
package struct StrategyMatrix: Encodable, Equatable {
    /// Whether new data wakes the app.
    package var triggersOnData: Bool
    /// Whether the app gets time after the system has ended it.
    package var whenTerminated: Bool
    package var afterForceQuit: Bool
    package var whenLocked: Bool
    /// Whether the app can read the data even while the phone is locked.
    package var deliversWhenLocked: Bool
    package var needsBackend: Bool
    package var maxRunSeconds: Double
}

/// How a strategy performed over a life.
package struct StrategyResult: Equatable {
    package var strategy: DeliveryStrategy
    /// The number of samples, including those that were deleted before they arrived.
    package var samples: Int
    package var samplesByMetric: [String: Int]
    package var all: DelayFigures
    /// The figures by the family under which samples are delivered.
    package var byMetric: [String: DelayFigures]
    /// The figures by the local hour in which a sample was saved.
    package var byHour: [DelayFigures]
    package var wakesPerDay: Double
    /// How many of these came while the phone wasn't connected to power.
    package var wakesOnBatteryPerDay: Double
    /// The number of wakes per day, by local hour.
    package var wakesByHour: [Double]
    /// The time in the background, excluding the time for which the person has the app open. An ideal app's runs
    /// last as long as the model says; nil for the naive app.
    package var runSecondsPerDay: Double?
    /// How long after the start, in seconds, the system gave up delivering in the background; nil if it didn't.
    package var deliveryStoppedAfter: Double?
    package var lost: Int
    package var doubled: Int
    /// How many elements were sent again although the backend had them.
    package var repeated: Int
    /// nil if it wasn't tested.
    package var matrix: StrategyMatrix?

    init(phone: Phone, matrix: StrategyMatrix?) {
        let outcome = phone.outcome
        let days = Double(phone.book.life.options.days)
        func perDay(_ count: Double) -> Double { (count / days).rounded(decimals: 2) }
        strategy = phone.strategy
        all = outcome.all.figures
        samplesByMetric = outcome.recorded
        samples = samplesByMetric.values.reduce(0, +)
        byMetric = outcome.byMetric.mapValues(\.figures)
        byHour = outcome.byHour.map(\.figures)
        wakesPerDay = perDay(Double(phone.wakes))
        wakesOnBatteryPerDay = perDay(Double(phone.wakesOnBattery))
        wakesByHour = phone.wakesByHour.map { perDay(Double($0)) }
        runSecondsPerDay = strategy == .naive ? nil : (phone.runTime.seconds / days).rounded(decimals: 1)
        deliveryStoppedAfter = phone.decisions.deliveryStopped.map { ($0 - phone.book.start(of: 0)).seconds }
        lost = outcome.lost
        doubled = outcome.doubled
        repeated = phone.app.repeated
        self.matrix = matrix
    }

    package var median: Double? { all.median }
    package var p95: Double? { all.p95 }
    package var max: Double? { all.max }

    /// The share that arrives within one of `DelayFigures.limits`.
    package func delivered(within name: String) -> Double {
        zip(DelayFigures.limits, all.within).first { $0.0.name == name }?.1 ?? 0
    }

    package var wireValue: Value {
        var value = all.wireValue.object ?? [:]
        let own: [String: Value] = [
            "strategy": .string(strategy.rawValue), "samples": .integer(Int64(samples)),
            "byMetric": .object(byMetric.mapValues(\.wireValue)), "byHour": .array(byHour.map(\.wireValue)),
            "wakesPerDay": .number(wakesPerDay), "wakesOnBatteryPerDay": .number(wakesOnBatteryPerDay),
            "wakesByHour": .array(wakesByHour.map { .number($0) }),
            "runSecondsPerDay": Value(runSecondsPerDay), "deliveryStoppedAfterSeconds": Value(deliveryStoppedAfter),
            "lost": .integer(Int64(lost)), "doubled": .integer(Int64(doubled)), "repeated": .integer(Int64(repeated)),
        ]
        value.merge(own) { _, new in new }
        if let matrix { value.merge(Value(matrix).object ?? [:]) { _, new in new } }
        return .object(value)
    }
}
