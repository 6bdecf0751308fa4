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

    /// It works at first. After three deliveries that it didn't complete, nothing wakes it any more; each of them has
    /// used all of its time.
    @Test func withoutCompletionDeliveryStopsAfterThreeWakes() throws {
        let life = PhoneLife.Options(seed: 3, days: 6, use: .weekly)
        let result = try Simulator(shippedStack(), life: life).run(.noCompletion)
        #expect(result.wakesPerDay * 6 == 3)
        #expect(result.runSecondsPerDay == 7.5)
        let stopped = try #require(result.deliveryStoppedAfter)
        #expect((3600...(3 * 86_400)).contains(stopped))
        #expect(result.lost == 0 && result.matrix?.triggersOnData == true)
        let completing = try Simulator(shippedStack(), life: life).measured(.backgroundDelivery)
        #expect(completing.deliveryStoppedAfter == nil)
        #expect(completing.delivered(within: "24h") > result.delivered(within: "24h") + 0.1)
    }

    /// The model's numbers decide after how many misses it stops, and how long the system waits in between.
    @Test func strikesAndTheirBackOffAreNumbersOfTheModel() throws {
        func stopped(_ change: (inout PhoneModel) -> Void) throws -> Double? {
            var life = PhoneLife.Options(seed: 3, days: 6, use: .often)
            life.model[.deliveriesPerDay] = 24
            change(&life.model)
            return try Simulator(shippedStack(), life: life, app: .ideal).measured(.noCompletion).deliveryStoppedAfter
        }
        let usual = try #require(try stopped { _ in })
        #expect(try #require(try stopped { $0[.strikesUntilStopped] = 2 }) < usual)
        #expect(try #require(try stopped { $0[.strikesUntilStopped] = 5 }) > usual)
        #expect(try #require(try stopped { $0[.strikeBackOffMinutes] = 240 }) > usual + 3600)
        // A run that is too long isn't completed either.
        let tooLong = try Simulator(
            shippedStack(), life: .init(seed: 3, days: 6, model: PhoneModel().with(.usualSeconds, 20)), app: .ideal)
        #expect(try tooLong.measured(.backgroundDelivery).deliveryStoppedAfter != nil)
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
        // App refreshes and pushes are equally rare: which of the two is faster is luck.
        let turned = order.turned(from: StrategyOrder(wished))
        #expect(turned.allSatisfy { Set([$0.faster, $0.slower]) == [.appRefresh, .silentPush] }, "\(turned)")
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
