import BackgroundDelivery
import Configuration
import HealthModel

/// Simulates a phone's life once for each strategy, and measures the results.
package struct Simulator {
    /// What the app is made of.
    package enum App: Sendable {
        /// The stages that samples pass through.
        case stages
        /// All stages, including those that only compute figures.
        case allStages
        /// An app that delivers everything it can read whenever it gets time, so that only the phone matters.
        case ideal
    }

    package let configuration: StackConfiguration
    package let app: App
    private let book: LifeBook
    let isInterrupted: () -> Bool

    /// - Parameter isInterrupted: called repeatedly; once it returns true, `run` throws `SimulationInterrupted`.
    /// - Throws: `ZoneError` for a life in an unknown zone.
    package init(
        _ configuration: StackConfiguration, life: PhoneLife.Options, app: App = .stages,
        isInterrupted: @escaping () -> Bool = { false }
    ) throws {
        (self.configuration, self.app, self.isInterrupted) = (configuration, app, isInterrupted)
        book = LifeBook(try PhoneLife(life))
    }

    package var life: PhoneLife.Options { book.life.options }

    /// - Parameter progress: the number of days simulated; probes aren't counted.
    /// - Throws: `SimulationInterrupted`, or the reason why a stage couldn't continue.
    package func run(_ strategy: DeliveryStrategy, progress: (Int) -> Void = { _ in }) throws -> StrategyResult {
        let phone = try phone(strategy, book, app)
        try phone.live(progress: progress)
        return StrategyResult(phone: phone, matrix: try matrix(strategy))
    }

    /// The same result, but without testing the strategy's capabilities.
    package func measured(_ strategy: DeliveryStrategy) throws -> StrategyResult {
        let phone = try phone(strategy, book, app)
        try phone.live()
        return StrategyResult(phone: phone, matrix: nil)
    }

    private func phone(
        _ strategy: DeliveryStrategy, _ book: LifeBook, _ app: App, _ probe: Phone.Probe = .init()
    ) throws -> Phone {
        let stack = configuration
        func phone(_ app: any PhoneApp, _ time: any PhoneTime) -> Phone {
            Phone(
                book, strategy: strategy, app: app, time: time, probe: probe, family: { stack.family(of: $0) },
                isInterrupted: isInterrupted)
        }
        if strategy == .naive || app == .ideal {
            let start = PlainTime(at: book.start(of: 0))
            return strategy == .naive ? phone(NaiveApp(), start) : phone(IdealApp(), start)
        }
        let used = app == .allStages ? stack : stack.withoutFigures
        let stages = try StackApp(used.applying(strategy, book.life.options.model), life: book.life)
        return phone(stages, stages.time)
    }

    // MARK: Probes

    /// What a strategy can do, each ability tested in a short life in which nothing else could have caused the result.
    /// Whether the app gets time is up to the phone, so the cheapest app will do.
    private func matrix(_ strategy: DeliveryStrategy) throws -> StrategyMatrix {
        var small = PhoneLife.Options(seed: life.seed, days: Self.probeDays, use: life.use, model: life.model)
        small.density = 0.1
        for number in [PhoneModel.Number.forceQuitAfterUse, .terminationsPerDay, .rebootsPerDay, .flightsPerDay] {
            small.model[number] = 0
        }
        var silent = small
        silent.density = 0
        let lives = (usual: LifeBook(try PhoneLife(small)), silent: LifeBook(try PhoneLife(silent)))
        func tried(_ book: LifeBook, _ probe: Phone.Probe) throws -> Phone {
            let phone = try phone(strategy, book, .ideal, probe)
            try phone.live()
            return phone
        }
        func wakes(_ app: DeviceState.AppState) throws -> Int { try tried(lives.usual, .init(app: app)).wakes }
        let locked = try tried(lives.usual, .init(staysLocked: true, app: .background))
        return StrategyMatrix(
            triggersOnData: try wakes(.background) > tried(lives.silent, .init(app: .background)).wakes,
            whenTerminated: try wakes(.terminated) > 0, afterForceQuit: try wakes(.forceQuit) > 0,
            whenLocked: locked.wakes > 0, deliversWhenLocked: locked.outcome.arrived > 0,
            needsBackend: strategy.needsBackend, maxRunSeconds: life.model.maxRunSeconds(strategy))
    }

    private static let probeDays = 4
}
