import Configuration
import HealthModel
import Simulation
import Testing

/// Strategies, simulated with the real stages.
@Suite(.serialized) struct StrategyTests {
    /// Whatever the phone does, every sample that it lets through arrives, even if late.
    @Test(arguments: DeliveryStrategy.allCases.filter { $0 != .naive })
    func nothingIsLostOrDoubledInTheWorstLife(strategy: DeliveryStrategy) throws {
        let result = try Simulator(shippedStack(), life: .worst(seed: 3, days: 6), app: .allStages).run(strategy)
        #expect(result.samples > 3000)
        #expect(result.lost == 0)
        #expect(result.doubled == 0)
        #expect(result.max ?? 0 > 3600, "a life in which nothing is late proves nothing")
    }

    /// Lost samples never arrive, and aren't counted as fast.
    @Test func withoutAnchorsSamplesAreLost() throws {
        let result = try Simulator(shippedStack(), life: .init(seed: 3, days: 6)).run(.naive)
        #expect(result.lost > 0 && result.max == nil)
        #expect(result.delivered(within: "24h") < 1)
        let other = try Simulator(shippedStack(), life: .init(seed: 3, days: 6), app: .ideal).run(.backgroundDelivery)
        #expect(other.delivered(within: "24h") > result.delivered(within: "24h"))
    }

    /// The stages behave like an ideal app: the order of strategies depends only on the phone.
    @Test func stagesAndTheIdealAppGiveTheSameOrder() throws {
        let life = PhoneLife.Options(seed: 11, days: 7)
        let strategies = DeliveryStrategy.allCases.filter { $0 != .naive }
        let stages = try Simulator(shippedStack(), life: life)
        let ideal = try Simulator(shippedStack(), life: life, app: .ideal)
        let real = try strategies.map { try stages.measured($0) }
        let wished = try strategies.map { try ideal.measured($0) }
        let order = StrategyOrder(real)
        #expect(order.turned(from: StrategyOrder(wished)).isEmpty)
        for (real, ideal) in zip(real, wished) {
            #expect(real.lost == 0 && ideal.lost == 0, "\(real.strategy)")
            let (within, wish) = (real.delivered(within: "4h"), ideal.delivered(within: "4h"))
            #expect(abs(within - wish) < 0.1, "\(real.strategy): \(within), ideally \(wish)")
        }
    }

    /// Handlers only compute figures, so they delay no samples.
    @Test func figuresChangeNoDelay() throws {
        let life = PhoneLife.Options(seed: 12, days: 2)
        let few = try Simulator(shippedStack(), life: life).measured(.backgroundDelivery)
        let all = try Simulator(shippedStack(), life: life, app: .allStages).measured(.backgroundDelivery)
        #expect(few.samples == all.samples && all.lost == 0)
        for (one, other) in zip(few.all.within, all.all.within) { #expect(abs(one - other) < 0.02) }
    }

    @Test func anInterruptedSimulationEndsAtOnce() throws {
        var looks = 0
        let simulator = try Simulator(
            shippedStack(), life: .init(seed: 1, days: 300),
            isInterrupted: {
                looks += 1
                return looks > 50
            })
        #expect(throws: SimulationInterrupted.self) { try simulator.run(.combined) }
        #expect(looks == 51)
    }
}
