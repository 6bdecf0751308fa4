import Configuration
import HealthModel

/// A figure of the simulated phone, beside what others say of real ones.
package struct FieldFigure: Sendable, Equatable {
    package var name: String
    package var unit: String
    /// What the field's reports say.
    package var reports: String
    /// What Apple says; empty if nothing.
    package var apple: String
    /// What was chosen of these statements.
    package var chosen: ClosedRange<Double>
    /// The lowest and the highest result of all lives.
    package var ours: ClosedRange<Double>

    package var oursText: String {
        func text(_ value: Double) -> String {
            guard value.isFinite else { return "never" }
            let tenths = value.rounded(decimals: 1)
            return tenths == tenths.rounded() ? "\(Int(tenths))" : "\(tenths)"
        }
        let (low, high) = (text(ours.lowerBound), text(ours.upperBound))
        return low == high ? low : "\(low) to \(high)"
    }

    package var wireValue: Value {
        [
            "figure": .string(name), "unit": .string(unit), "reports": .string(reports),
            "apple": apple.isEmpty ? .null : .string(apple), "low": Self.wireValue(ours.lowerBound),
            "high": Self.wireValue(ours.upperBound),
        ]
    }

    /// Null is never.
    private static func wireValue(_ value: Double) -> Value { value.isFinite ? .number(value) : .null }
}

/// Lives that differ by their seed, with an ideal app, since only the phone decides these figures.
package struct FieldComparison {
    package static let seeds = 5
    package let figures: [FieldFigure]

    /// - Parameters:
    ///   - life: the first life; the others have the following seeds.
    ///   - progress: called with how many figures are done, and how many there are.
    /// - Throws: `SimulationInterrupted`.
    package init(
        _ configuration: StackConfiguration, life: PhoneLife.Options, isInterrupted: @escaping () -> Bool = { false },
        progress: (Int, Int) -> Void = { _, _ in }
    ) throws {
        var measured = Measured(configuration: configuration, life: life, isInterrupted: isInterrupted)
        var figures: [FieldFigure] = []
        let rows = FieldStatement.table
        for (done, row) in rows.enumerated() {
            progress(done, rows.count)
            // A share of nothing, in a short life, is no result.
            let results = try row.measure(&measured).filter { !$0.isNaN }
            guard let low = results.min(), let high = results.max() else { continue }
            figures.append(
                FieldFigure(
                    name: row.name, unit: row.unit, reports: row.reports, apple: row.apple, chosen: row.chosen,
                    ours: low...high))
        }
        self.figures = figures
    }

    /// Results by strategy and use, each computed once.
    struct Measured {
        let configuration: StackConfiguration
        let life: PhoneLife.Options
        let isInterrupted: () -> Bool
        private(set) var known: [String: [StrategyResult]] = [:]

        var model: PhoneModel { life.model }
        var days: Double { Double(life.days) }
        var seeds: [UInt64] { (0..<UInt64(FieldComparison.seeds)).map { life.seed &+ $0 } }

        /// An option of the debouncer.
        func option(_ name: String) -> [Double] {
            [configuration.only(.debouncer)?.configuration[name].double].compactMap { $0 }
        }

        mutating func results(_ strategy: DeliveryStrategy, _ use: AppUse) throws -> [StrategyResult] {
            let key = "\(strategy) \(use)"
            if let results = known[key] { return results }
            let results = try seeds.map { seed in
                var life = life
                (life.seed, life.use, life.density) = (seed, use, 0.1)
                return try Simulator(configuration, life: life, app: .ideal, isInterrupted: isInterrupted)
                    .measured(strategy)
            }
            known[key] = results
            return results
        }

        mutating func wakes(_ strategy: DeliveryStrategy, _ use: AppUse) throws -> [Double] {
            try results(strategy, use).map(\.wakesPerDay)
        }

        /// In hours.
        mutating func median(_ strategy: DeliveryStrategy) throws -> [Double] {
            try results(strategy, .daily).map { ($0.median ?? .infinity) / 3600 }
        }

        /// From a change to its wake, in minutes, whatever the system's mood.
        func delays(afterTermination: Bool) -> [Double] {
            seeds.flatMap { seed in
                var random = SimulatedRandom(seed: seed, subject: 101)
                return (0..<2000).map { number in
                    model.deliveryDelay(
                        afterTermination: afterTermination, isImmediate: false, willingness: Double(number % 11) / 10,
                        using: &random
                    ).seconds / 60
                }
            }
        }
    }
}
