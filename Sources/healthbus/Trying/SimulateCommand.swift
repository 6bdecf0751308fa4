import Configuration
import HealthModel
import Logging
import Simulation
import Terminal

enum SimulateCommand: Command {
    static let help = CommandHelp(
        name: "healthbus simulate",
        summary: "Live a phone's days in seconds, and measure how each way of background delivery does.",
        options: [
            .init("--days", value: "number", help: "how many days (default: 30)"),
            .init("--seed", value: "number", help: "another seed is another life (default: 1)"),
            .init(
                "--strategy", value: "name",
                help:
                    "background-delivery, app-refresh, silent-push, processing, combined or naive (default: all)"
            ),
            .init(
                "--life", value: "kind",
                help: "usual, or worst: seldom opened, often killed and offline (default: usual)"),
            .config, .json,
        ],
        examples: [
            "healthbus simulate --days 30 --seed 42",
            "healthbus simulate --strategy combined --life worst --json",
        ])

    private enum Life: String, CaseIterable { case usual, worst }

    static func run(_ arguments: Arguments) throws {
        let days = try arguments.integer("--days", in: 1...3650) ?? 30
        let seed = UInt64(try arguments.integer("--seed", in: 0 ... .max) ?? 1)
        let strategies =
            try arguments.choice("--strategy", as: DeliveryStrategy.self).map { [$0] } ?? DeliveryStrategy.allCases
        let configuration = try StackConfiguration(path: arguments.configurationFile, catalog: .standard())
        let life: PhoneLife.Options =
            try arguments.choice("--life", as: Life.self) == .worst
            ? .worst(seed: seed, days: days) : .init(seed: seed, days: days)
        let simulator = Simulator(configuration, life: life)
        let progress = SimulationProgress(total: days * strategies.count)
        var results: [StrategyResult] = []
        for (number, strategy) in strategies.enumerated() {
            results.append(
                try simulator.run(strategy) { progress.show(strategy.rawValue, done: number * days + $0) })
        }
        progress.clear()
        let report = SimulationReport(seed: seed, days: days, results: results)
        if arguments.flag("--json") {
            StandardStream.output.write(report.wireValue.json(pretty: true) + "\n")
        } else {
            StandardStream.output.write(report.table(for: Terminal(.output)))
        }
    }
}

/// One line on standard error: the progress, and the time left.
private struct SimulationProgress {
    let total: Int
    private let isShown = Terminal(.error).isTerminal
    private let began = ContinuousClock.now

    init(total: Int) { self.total = total }

    func show(_ strategy: String, done: Int) {
        guard isShown, done > 0 else { return }
        let spent = ContinuousClock.now - began
        let left = spent / done * (total - done)
        StandardStream.error.write(
            "\r\(strategy): \(done) of \(total) days lived, \(HumanFormat.duration(left)) left\u{1B}[K")
    }

    func clear() { if isShown { StandardStream.error.write("\r\u{1B}[K") } }
}
