import BackgroundDelivery
import Configuration
import HealthModel

/// Simulates a phone's life once for each strategy, and measures the results.
package struct Simulator {
    package let configuration: StackConfiguration
    package let life: PhoneLife.Options
    package var model = DeferralModel()

    package init(_ configuration: StackConfiguration, life: PhoneLife.Options) {
        self.configuration = configuration
        self.life = life
    }

    /// - Parameter progress: the number of days simulated; probes aren't counted.
    package func run(_ strategy: DeliveryStrategy, progress: (Int) -> Void = { _ in }) throws -> StrategyResult {
        let phone = try phone(strategy, life)
        try phone.live(progress: progress)
        return StrategyResult(strategy: strategy, phone: phone, matrix: try matrix(strategy))
    }

    private func phone(
        _ strategy: DeliveryStrategy, _ life: PhoneLife.Options, _ probe: SimulatedPhone.Probe = .init()
    ) throws -> SimulatedPhone {
        try SimulatedPhone(
            configuration, life: PhoneLife(life), strategy: strategy, model: model, probe: probe)
    }

    // MARK: Probes

    /// What a strategy can do, each ability tested in a short life in which nothing else could have caused the result.
    private func matrix(_ strategy: DeliveryStrategy) throws -> StrategyMatrix {
        var small = PhoneLife.Options(seed: life.seed, days: Self.probeDays)
        small.density = 0.1
        small.forceQuitsPerDay = 0
        small.terminationsPerDay = 0
        small.rebootsPerDay = 0
        small.flightsPerDay = 0
        var silent = small
        silent.density = 0
        func tried(_ life: PhoneLife.Options, _ probe: SimulatedPhone.Probe) throws -> SimulatedPhone {
            let phone = try phone(strategy, life, probe)
            try phone.live()
            return phone
        }
        let locked = try tried(small, .init(staysLocked: true, app: .background))
        return StrategyMatrix(
            triggersOnData: try tried(small, .init(app: .background)).wakes
                > tried(silent, .init(app: .background)).wakes,
            whenTerminated: try tried(small, .init(app: .terminated)).wakes > 0,
            afterForceQuit: try tried(small, .init(app: .forceQuit)).wakes > 0,
            whenLocked: locked.wakes > 0, deliversWhenLocked: !locked.outcome.delays.isEmpty,
            needsBackend: strategy.needsBackend, maxRunSeconds: model.maxRunSeconds(strategy))
    }

    private static let probeDays = 4
}
