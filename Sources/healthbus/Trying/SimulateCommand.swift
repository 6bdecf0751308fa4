import Configuration
import HealthModel
import Logging
import Processes
import Simulation
import Terminal

enum SimulateCommand: Command {
    static let help = CommandHelp(
        name: "healthbus simulate",
        summary: "Simulate a phone's days in seconds, and measure how well each way of background delivery works.",
        options: [
            .init("--days", value: "number", help: "how many days (default: 30)"),
            .init("--seed", value: "number", help: "another seed makes another life (default: 1)"),
            .init(
                "--strategy", value: "name", words: DeliveryStrategy.allCases.map(\.rawValue),
                help: DeliveryStrategy.allCases.map(\.rawValue).joined(separator: ", ") + " (default: all)"
            ),
            .init(
                "--use", value: "kind", words: AppUse.allCases.map(\.rawValue),
                help: "how often the app is opened: never, weekly, daily or often (default: daily)"),
            .init(
                "--life", value: "kind", words: Life.allCases.map(\.rawValue),
                help: "usual, or worst: seldom opened, often killed and offline (default: usual)"),
            .init("--figures", help: "also run the handlers that only compute figures: slower, with the same delays"),
            .init("--chart", help: "also draw the delay by hour of the day"),
            .init("--model", help: "only print the model's numbers, with ranges and sources"),
            .init(
                "--sources",
                help: "only compare five lives' figures with what the field's reports and Apple say of them"),
            .init(
                "--vary",
                help: "only show how the order of strategies changes with each number of the model at the ends of its"
                    + " range: with an ideal app, and at most ten days"),
            .config, .json,
        ],
        examples: [
            "healthbus simulate --days 30 --seed 42",
            "healthbus simulate --strategy combined --life worst --json",
            "healthbus simulate --days 7 --use weekly --chart",
            "healthbus simulate --sources",
            "healthbus simulate --vary",
        ])

    private enum Life: String, CaseIterable { case usual, worst }

    static func run(_ arguments: Arguments) throws {
        if arguments.flag("--model") {
            let table = PhoneModelReport()
            return arguments.print(table.wireValue, else: table.table(for: Terminal(.output)))
        }
        let life = try life(arguments)
        let strategies =
            try arguments.choice("--strategy", as: DeliveryStrategy.self).map { [$0] } ?? DeliveryStrategy.allCases
        let configuration = try StackConfiguration(path: arguments.configurationFile, catalog: .standard())
        let interrupt = Interrupt()
        let simulator = try Simulator(
            configuration, life: life, app: arguments.flag("--figures") ? .allStages : .stages,
            isInterrupted: { interrupt.hasCome })
        do {
            if arguments.flag("--sources") {
                let figures = try compare(configuration, life, interrupt).figures
                arguments.print(
                    .array(figures.map(\.wireValue)), else: SimulationReport.text(figures, for: Terminal(.output)))
            } else if arguments.flag("--vary") {
                let variation = try vary(simulator)
                arguments.print(variation.wireValue, else: SimulationReport.text(variation))
            } else {
                let report = try compare(strategies, simulator)
                arguments.print(report.wireValue, else: report.text(chart: arguments.flag("--chart")))
            }
        } catch is SimulationInterrupted {
            throw Quiet(.failed)
        }
    }

    private static func life(_ arguments: Arguments) throws -> PhoneLife.Options {
        let days = try arguments.integer("--days", in: 1...3650) ?? 30
        let seed = UInt64(try arguments.integer("--seed", in: 0 ... .max) ?? 1)
        let use = try arguments.choice("--use", as: AppUse.self) ?? .daily
        let isWorst = try arguments.choice("--life", as: Life.self) == .worst
        return isWorst ? .worst(seed: seed, days: days, use: use) : .init(seed: seed, days: days, use: use)
    }

    private static func compare(_ strategies: [DeliveryStrategy], _ simulator: Simulator) throws -> SimulationReport {
        let days = simulator.life.days
        let progress = SimulationProgress(unit: "days lived")
        defer { LiveLine.error.end() }
        let results = try strategies.enumerated().map { number, strategy in
            try simulator.run(strategy) {
                progress.show(strategy.rawValue, done: number * days + $0, of: days * strategies.count)
            }
        }
        return SimulationReport(life: simulator.life, results: results)
    }

    private static func compare(
        _ configuration: StackConfiguration, _ life: PhoneLife.Options, _ interrupt: Interrupt
    ) throws -> FieldComparison {
        let progress = SimulationProgress(unit: "figures")
        defer { LiveLine.error.end() }
        return try FieldComparison(configuration, life: life, isInterrupted: { interrupt.hasCome }) { done, total in
            progress.show("seeds", done: done, of: total)
        }
    }

    private static func vary(_ simulator: Simulator) throws -> ModelVariation {
        let progress = SimulationProgress(unit: "numbers varied")
        defer { LiveLine.error.end() }
        return try simulator.varying { done, _ in progress.show("model", done: done, of: PhoneModel.table.count) }
    }
}

/// One line on standard error with the progress and the time left.
private struct SimulationProgress {
    let unit: String
    private let began = ContinuousClock.now

    init(unit: String) { self.unit = unit }

    func show(_ subject: String, done: Int, of total: Int) {
        guard done > 0 else { return }
        let left = (ContinuousClock.now - began) / done * (total - done)
        LiveLine.error.rest("\(subject): \(done) of \(total) \(unit), \(HumanFormat.duration(left)) left")
    }
}
