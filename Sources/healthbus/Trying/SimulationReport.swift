import HealthModel
import Logging
import Simulation
import Terminal

/// What `healthbus simulate` prints.
struct SimulationReport {
    let life: PhoneLife.Options
    let results: [StrategyResult]

    var wireValue: Value {
        [
            "seed": .integer(Int64(clamping: life.seed)), "days": .integer(Int64(life.days)),
            "use": .string(life.use.rawValue), "strategies": .array(results.map(\.wireValue)),
        ]
    }

    func text(chart: Bool) -> String {
        let terminal = Terminal(.output)
        var text = table(for: terminal) + "\nMedian delay by metric\n" + byMetric(for: terminal)
        text +=
            "A night counts from the morning, when the Watch saves it. 'steps' includes distances and hours stood.\n"
        for result in results {
            guard let after = result.deliveryStoppedAfter else { continue }
            text +=
                "\(result.strategy.rawValue): after \(HumanFormat.duration(.seconds(after))) the system stopped waking the"
                + " app for new data.\n"
        }
        if chart { text += "\n" + DelayChart(results: results).text }
        return text
    }

    private static func duration(_ seconds: Double?, samples: Int = 1) -> String {
        samples == 0 ? "–" : seconds.map { HumanFormat.duration(.seconds($0)) } ?? "never"
    }

    func table(for terminal: Terminal) -> String {
        var table = Table(
            [.init("strategy"), .number("samples", givesWay: 3)]
                + DelayFigures.limits.map { .number($0.name) } + [
                    .number("median"), .number("95 %"), .number("worst"),
                    .number("wakes/day"), .number("run s/day"), .number("lost"), .number("doubled", givesWay: 7),
                    .init("on data", givesWay: 6), .init("terminated", givesWay: 5), .init("force-quit", givesWay: 4),
                    .init("while locked", givesWay: 4), .init("needs backend", givesWay: 2),
                    .number("run limit s", givesWay: 1),
                ])
        func locked(_ matrix: StrategyMatrix) -> String {
            matrix.deliversWhenLocked ? "delivers" : matrix.whenLocked ? "can't read" : "waits"
        }
        func yes(_ flag: Bool?) -> String { flag.map { $0 ? "yes" : "no" } ?? "–" }
        for result in results {
            // Without wakes there is nothing to report about them.
            let matrix = result.strategy.wakes.isEmpty ? nil : result.matrix
            table.add(
                [result.strategy.rawValue, HumanFormat.count(result.samples)]
                    + result.all.within.map { DelayFigures.percent($0) } + [
                        Self.duration(result.median), Self.duration(result.p95), Self.duration(result.max),
                        "\(result.wakesPerDay)", result.runSecondsPerDay.map { "\($0)" } ?? "–",
                        HumanFormat.count(result.lost), HumanFormat.count(result.doubled),
                        yes(matrix?.triggersOnData), yes(matrix?.whenTerminated), yes(matrix?.afterForceQuit),
                        matrix.map(locked) ?? "–", yes(matrix?.needsBackend), runLimits(result.strategy),
                    ])
        }
        return table.render(for: terminal)
    }

    /// The shortest and the longest runtime that is allowed for a strategy's wakes.
    private func runLimits(_ strategy: DeliveryStrategy) -> String {
        let limits = strategy.wakes.map { Int(life.model.runSeconds($0)) }
        guard let low = limits.min(), let high = limits.max() else { return "–" }
        return low == high ? "\(low)" : "\(low) to \(high)"
    }

    private func byMetric(for terminal: Terminal) -> String {
        let metrics = Set(results.flatMap(\.byMetric.keys)).sorted()
        // With few samples, as for `body`, a median isn't meaningful.
        let counts = metrics.map { metric in results.compactMap { $0.samplesByMetric[metric] }.max() ?? 0 }
        var table = Table(
            [.init("strategy")] + zip(metrics, counts).map { .number("\($0) (\(HumanFormat.count($1)))") })
        for result in results {
            table.add(
                [result.strategy.rawValue]
                    + metrics.map { metric in
                        let figures = result.byMetric[metric] ?? DelayFigures()
                        return Self.duration(figures.median, samples: figures.samples)
                    })
        }
        return table.render(for: terminal)
    }

    static func text(_ figures: [FieldFigure], for terminal: Terminal) -> String {
        var table = Table([
            .init("figure"), .init("unit"), .init("reports"), .init("Apple", givesWay: 1), .init("here"),
        ])
        for figure in figures {
            table.add([
                figure.name, figure.unit, figure.reports, figure.apple.isEmpty ? "–" : figure.apple, figure.oursText,
            ])
        }
        return table.render(for: terminal)
    }

    static func text(_ variation: ModelVariation) -> String {
        var text = "From the fastest on, by the 95th percentile over \(variation.days) days:\n"
        for (place, strategy) in variation.order.enumerated() { text += "  \(place + 1). \(strategy.rawValue)\n" }
        let rows = PhoneModel.table
        let count = HumanFormat.count(rows.count)
        guard !variation.changes.isEmpty else {
            return text + "\nThe order holds at both ends of all \(count) numbers.\n"
        }
        let kept = rows.count - Set(variation.changes.map(\.number)).count
        text += "\nIt holds at both ends of \(HumanFormat.count(kept)) of \(count) numbers. The others:\n"
        var table = Table([.init("number"), .number("value"), .number("usually"), .init("unit"), .init("then faster")])
        for end in variation.changes {
            let row = rows[end.number.rawValue]
            table.add([
                row.meaning, PhoneModelReport.text(end.value), PhoneModelReport.text(row.value), row.unit,
                end.turned.map { "\($0.faster.rawValue) than \($0.slower.rawValue)" }.joined(separator: "; "),
            ])
        }
        return text + table.render(for: Terminal(.output))
    }
}

/// The model's numbers, for people and programs.
struct PhoneModelReport {
    static func text(_ value: Double) -> String {
        value == value.rounded() ? "\(Int(value))" : "\(value)"
    }

    func table(for terminal: Terminal) -> String {
        var table = Table([
            .init("number"), .number("value"), .init("range"), .init("unit"), .init("source", givesWay: 1),
        ])
        for row in PhoneModel.table {
            table.add([
                row.meaning, Self.text(row.value), "\(Self.text(row.low)) to \(Self.text(row.high))", row.unit,
                row.source,
            ])
        }
        return table.render(for: terminal)
    }

    var wireValue: Value {
        .array(
            PhoneModel.table.map { row in
                [
                    "number": .string(row.number.name), "meaning": .string(row.meaning), "value": .number(row.value),
                    "low": .number(row.low), "high": .number(row.high), "unit": .string(row.unit),
                    "source": .string(row.source), "estimate": .bool(row.isEstimate),
                ]
            })
    }
}
