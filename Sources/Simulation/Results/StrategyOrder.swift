import HealthModel

/// The order of strategies by their delay, and what changes it.
package struct StrategyOrder: Sendable, Equatable {
    /// The strategies, fastest first: by the 95th percentile, then by the median. A strategy whose samples never arrive
    /// comes last.
    package let strategies: [DeliveryStrategy]
    private let delays: [DeliveryStrategy: Double]

    package init(_ results: [StrategyResult]) {
        func key(_ result: StrategyResult) -> (Double, Double) {
            (result.p95 ?? .infinity, result.median ?? .infinity)
        }
        strategies = results.sorted { key($0) < key($1) }.map(\.strategy)
        delays = Dictionary(results.map { ($0.strategy, $0.p95 ?? .infinity) }) { first, _ in first }
    }

    /// Two strategies, one of which is faster than the other by more than chance explains.
    package struct Pair: Sendable, Hashable {
        package let faster: DeliveryStrategy
        package let slower: DeliveryStrategy

        package init(_ faster: DeliveryStrategy, _ slower: DeliveryStrategy) {
            (self.faster, self.slower) = (faster, slower)
        }
    }

    /// Strategies whose 95th percentiles differ by less than this factor count as equally good.
    private static let noise = 1.1

    /// Whether the first is faster by more than noise.
    package func isFaster(_ first: DeliveryStrategy, than second: DeliveryStrategy) -> Bool {
        guard let first = delays[first], let second = delays[second], first.isFinite else { return false }
        return first * Self.noise < second
    }

    /// Pairs whose order here is the reverse of that in `other`, where neither order is due to chance.
    package func turned(from other: StrategyOrder) -> [Pair] {
        strategies.flatMap { faster in
            let slower = strategies.filter { isFaster(faster, than: $0) && other.isFaster($0, than: faster) }
            return slower.map { Pair(faster, $0) }
        }
    }
}

/// How each number of the model affects the order of strategies.
package struct ModelVariation: Sendable, Equatable {
    /// One number, set to one end of its range.
    package struct End: Sendable, Equatable {
        package let number: PhoneModel.Number
        package let value: Double
        /// Pairs whose order it reverses.
        package let turned: [StrategyOrder.Pair]
    }

    /// The order with all numbers as in the life that was varied.
    package let order: [DeliveryStrategy]
    package let days: Int
    /// The ends, in the order of the table, low end first.
    package let ends: [End]

    package var changes: [End] { ends.filter { !$0.turned.isEmpty } }

    package var wireValue: Value {
        [
            "days": .integer(Int64(days)), "order": .array(order.map { .string($0.rawValue) }),
            "numbers": .array(
                ends.map { end in
                    [
                        "number": .string(end.number.name), "value": .number(end.value),
                        "turned": .array(
                            end.turned.map {
                                ["faster": .string($0.faster.rawValue), "slower": .string($0.slower.rawValue)]
                            }),
                    ]
                }),
        ]
    }
}

extension Simulator {
    private static let longestVaried = 10

    /// Runs the same life again for each number, with the number at either end of its range. Uses an ideal app, a tenth
    /// of the samples and at most ten days: running the stages would take hours, and it is the phone that determines
    /// the order.
    /// - Parameter progress: called with how many numbers have been varied, and how many there are.
    /// - Throws: `SimulationInterrupted`.
    package func varying(progress: (Int, Int) -> Void = { _, _ in }) throws -> ModelVariation {
        func order(_ model: PhoneModel) throws -> StrategyOrder {
            var life = life
            life.model = model
            life.days = min(life.days, Self.longestVaried)
            life.density = 0.1
            let simulator = try Simulator(configuration, life: life, app: .ideal, isInterrupted: isInterrupted)
            return StrategyOrder(try DeliveryStrategy.allCases.map { try simulator.measured($0) })
        }
        let base = try order(life.model)
        var ends: [ModelVariation.End] = []
        let rows = PhoneModel.table
        for (done, row) in rows.enumerated() {
            progress(done, rows.count)
            for value in [row.low, row.high] {
                let turned = try order(life.model.with(row.number, value)).turned(from: base)
                ends.append(.init(number: row.number, value: value, turned: turned))
            }
        }
        return ModelVariation(order: base.strategies, days: min(life.days, Self.longestVaried), ends: ends)
    }
}
