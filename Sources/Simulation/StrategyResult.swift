import HealthModel

/// What a strategy can do: in which states of the app and the phone it gets time, and why.
package struct StrategyMatrix: Equatable {
    /// New data causes a wake.
    package var triggersOnData: Bool
    /// After the system has ended the app.
    package var whenTerminated: Bool
    package var afterForceQuit: Bool
    package var whenLocked: Bool
    /// Even with the phone locked it can read the data.
    package var deliversWhenLocked: Bool
    package var needsBackend: Bool
    package var maxRunSeconds: Double
}

/// How a strategy performed over a life.
package struct StrategyResult: Equatable {
    package var strategy: DeliveryStrategy
    package var samples: Int
    /// Whole seconds from a sample to the backend; nil when nothing arrived.
    package var median: Double?
    package var p95: Double?
    package var max: Double?
    package var wakesPerDay: Double
    /// In the background, excluding the time that the person spends in the app. nil for the baseline, which runs no
    /// stack.
    package var runSecondsPerDay: Double?
    package var lost: Int
    package var doubled: Int
    /// Elements sent again although the backend had them.
    package var repeated: Int
    package var matrix: StrategyMatrix

    init(strategy: DeliveryStrategy, phone: SimulatedPhone, matrix: StrategyMatrix) {
        let outcome = phone.outcome
        let days = Double(phone.life.options.days)
        func quantile(_ share: Double) -> Double? {
            outcome.delays.isEmpty ? nil : outcome.delays[Int(Double(outcome.delays.count - 1) * share)].rounded()
        }
        self.strategy = strategy
        samples = phone.ledger.count
        median = quantile(0.5)
        p95 = quantile(0.95)
        max = quantile(1)
        wakesPerDay = (Double(phone.wakes) / days * 100).rounded() / 100
        runSecondsPerDay = strategy == .naive ? nil : (phone.runTime.seconds / days * 10).rounded() / 10
        lost = outcome.lost
        doubled = outcome.doubled
        repeated = phone.log.repeated
        self.matrix = matrix
    }

    package var wireValue: Value {
        [
            "strategy": .string(strategy.rawValue), "samples": .integer(Int64(samples)),
            "delaySeconds": ["median": Value(median), "p95": Value(p95), "max": Value(max)],
            "wakesPerDay": .number(wakesPerDay), "runSecondsPerDay": Value(runSecondsPerDay),
            "lost": .integer(Int64(lost)), "doubled": .integer(Int64(doubled)), "repeated": .integer(Int64(repeated)),
            "triggersOnData": .bool(matrix.triggersOnData), "whenTerminated": .bool(matrix.whenTerminated),
            "afterForceQuit": .bool(matrix.afterForceQuit), "whenLocked": .bool(matrix.whenLocked),
            "deliversWhenLocked": .bool(matrix.deliversWhenLocked),
            "needsBackend": .bool(matrix.needsBackend), "maxRunSeconds": .number(matrix.maxRunSeconds),
        ]
    }
}
