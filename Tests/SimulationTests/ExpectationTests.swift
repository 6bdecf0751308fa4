import Configuration
import HealthModel
import Simulation
import Testing

/// What anyone familiar with phones would expect of the model. The app is ideal, so only the phone affects the result.
@Suite struct ExpectationTests {
    private let stack: StackConfiguration

    init() throws { stack = try shippedStack() }

    private func simulator(
        seed: UInt64 = 1, days: Int = 14, use: AppUse = .daily, _ change: (inout PhoneModel) -> Void = { _ in }
    ) throws -> Simulator {
        var life = PhoneLife.Options(seed: seed, days: days, use: use)
        life.density = 0.1
        change(&life.model)
        return try Simulator(stack, life: life, app: .ideal)
    }

    /// The matrix of strategies, as developers know it.
    @Test func strategiesCanDoWhatTheyAreKnownFor() throws {
        let simulator = try simulator(days: 1)
        func matrix(_ strategy: DeliveryStrategy) throws -> StrategyMatrix {
            try #require(try simulator.run(strategy).matrix)
        }
        let delivery = try matrix(.backgroundDelivery)
        #expect(delivery.triggersOnData && delivery.whenTerminated && !delivery.afterForceQuit && !delivery.whenLocked)
        #expect(!delivery.needsBackend && !delivery.deliversWhenLocked && delivery.maxRunSeconds == 15)
        let push = try matrix(.silentPush)
        #expect(push.whenLocked && !push.deliversWhenLocked, "locked, health data can't be read")
        #expect(!push.triggersOnData && push.whenTerminated && push.needsBackend && !push.afterForceQuit)
        #expect(push.maxRunSeconds == 30)
        for (strategy, seconds) in [(DeliveryStrategy.appRefresh, 30.0), (.processing, 600)] {
            let task = try matrix(strategy)
            #expect(task.whenLocked && !task.deliversWhenLocked && task.maxRunSeconds == seconds, "\(strategy)")
            #expect(!task.triggersOnData && task.whenTerminated && !task.afterForceQuit && !task.needsBackend)
        }
        let combined = try matrix(.combined)
        #expect(combined.triggersOnData && combined.maxRunSeconds == 600)
        let opening = try matrix(.opening)
        #expect(!opening.triggersOnData && !opening.whenTerminated && !opening.whenLocked)
    }

    @Test(arguments: [
        (DeliveryStrategy.backgroundDelivery, 2.4...4.0), (.appRefresh, 1...2.4), (.processing, 0.5...1),
        (.silentPush, 1...2.4), (.opening, 0...0), (.noCompletion, 0.1...0.3),
    ])
    func aDayHasSoManyWakes(strategy: DeliveryStrategy, range: ClosedRange<Double>) throws {
        #expect(range.contains(try simulator().measured(strategy).wakesPerDay))
    }

    /// Not all wakes come before ten in the morning: refreshes run during hours of use, and processing runs at night.
    @Test func wakesAreSpreadOverTheHoursInWhichTheyBelong() throws {
        let simulator = try simulator(days: 30)
        func share(_ strategy: DeliveryStrategy, _ hours: some Sequence<Int>) throws -> Double {
            let wakes = try simulator.measured(strategy).wakesByHour
            return hours.reduce(0) { $0 + wakes[$1] } / max(0.01, wakes.reduce(0, +))
        }
        #expect(try share(.backgroundDelivery, 0..<10) < 0.5)
        #expect(try share(.backgroundDelivery, 16..<24) > 0.2)
        #expect(try share(.appRefresh, 7..<24) > 0.8)
        #expect(try share(.processing, Array(21..<24) + Array(0..<8)) > 0.5)
    }

    /// The order of the strategies holds for many simulated lives, not just for one that happens to fit.
    @Test func theOrderOfStrategiesHoldsForFiftySeeds() throws {
        // Samples that are late with background delivery alone are mostly late with everything combined too, so these two
        // are the closest pair, and often equal.
        let faster: [(DeliveryStrategy, DeliveryStrategy, least: Int)] = [
            (.combined, .backgroundDelivery, 40), (.combined, .appRefresh, 44), (.combined, .processing, 44),
            (.backgroundDelivery, .processing, 44), (.backgroundDelivery, .opening, 44),
        ]
        var wins = Array(repeating: 0, count: faster.count)
        let seeds = 50
        for seed in 1...UInt64(seeds) {
            let simulator = try simulator(seed: seed)
            let strategies: [DeliveryStrategy] = [.combined, .backgroundDelivery, .appRefresh, .processing, .opening]
            let results = try strategies.map { try simulator.measured($0) }
            let order = StrategyOrder(results)
            // At the 95th percentile these two are close: samples that are this late are late with both strategies.
            #expect(results[1].delivered(within: "4h") > results[2].delivered(within: "4h"), "seed \(seed)")
            for (place, pair) in faster.enumerated() {
                #expect(!order.isFaster(pair.1, than: pair.0), "seed \(seed): \(pair)")
                let p95 = [pair.0, pair.1].map { strategy in
                    results.first { $0.strategy == strategy }?.p95 ?? .infinity
                }
                if p95[0] <= p95[1] { wins[place] += 1 }
            }
        }
        for (pair, wins) in zip(faster, wins) { #expect(wins >= pair.least, "\(pair): \(wins) of \(seeds)") }
    }

    @Test func combinedIsFasterThanEachOfItsParts() throws {
        let simulator = try simulator(days: 30)
        let combined = try simulator.measured(.combined)
        for part in DeliveryStrategy.combined.parts {
            let alone = try simulator.measured(part)
            #expect(combined.p95 ?? .infinity < alone.p95 ?? .infinity, "\(part)")
            #expect(combined.delivered(within: "4h") > alone.delivered(within: "4h"), "\(part)")
        }
    }

    @Test func backgroundDeliveryBeatsRefreshWhileThePhoneIsUsed() throws {
        let simulator = try simulator(days: 30)
        let delivery = try simulator.measured(.backgroundDelivery)
        let refresh = try simulator.measured(.appRefresh)
        #expect(delivery.median ?? .infinity < refresh.median ?? 0)
        #expect(delivery.delivered(within: "4h") > refresh.delivered(within: "4h"))
        func byDay(_ result: StrategyResult) -> Double {
            let hours = result.byHour[9..<20].filter { $0.samples > 0 }
            let all = Double(hours.reduce(0) { $0 + $1.samples })
            return hours.reduce(0) { $0 + Double($1.samples) * $1.within[2] } / all
        }
        #expect(byDay(delivery) > byDay(refresh))
    }

    /// Per second that the app runs, background delivery has the most arrive within an hour, beyond what opening the app
    /// brings anyway; processing has the least.
    @Test(arguments: 1...5 as ClosedRange<UInt64>) func backgroundDeliveryMakesMostOfItsTime(seed: UInt64) throws {
        let simulator = try simulator(seed: seed, days: 30)
        let opening = try simulator.measured(.opening).delivered(within: "1h")
        func measured(_ strategy: DeliveryStrategy) throws -> (gain: Double, seconds: Double, onBattery: Double) {
            let result = try simulator.measured(strategy)
            let seconds = try #require(result.runSecondsPerDay)
            return (result.delivered(within: "1h") - opening, seconds, result.wakesOnBatteryPerDay)
        }
        let delivery = try measured(.backgroundDelivery)
        let processing = try measured(.processing)
        for other in [try measured(.appRefresh), try measured(.silentPush)] {
            #expect(delivery.gain / delivery.seconds > 1.2 * other.gain / other.seconds, "\(delivery), \(other)")
            #expect(delivery.gain > other.gain && other.gain > processing.gain, "\(other), \(processing)")
            #expect(processing.onBattery < other.onBattery / 2)
        }
        #expect(delivery.seconds < 30)
    }

    @Test func nothingBeatsOpeningTheAppOften() throws {
        let opening = try simulator(use: .often).measured(.opening)
        for strategy in DeliveryStrategy.allCases where ![.naive, .noCompletion].contains(strategy) {
            let other = try simulator(use: .weekly).measured(strategy)
            #expect(opening.p95 ?? .infinity < other.p95 ?? .infinity, "\(strategy)")
            #expect(opening.median ?? .infinity < other.median ?? .infinity, "\(strategy)")
        }
    }

    @Test func theMoreTheAppIsUsedTheSoonerEverythingArrives() throws {
        for strategy in [DeliveryStrategy.backgroundDelivery, .combined, .silentPush, .opening] {
            let shares = try AppUse.allCases.map { try simulator(use: $0).measured(strategy).delivered(within: "4h") }
            // An app that is used weekly is hardly better off than one that is never used.
            #expect(shares[3] > shares[2] && shares[2] > shares[1] && shares[2] > shares[0], "\(strategy): \(shares)")
        }
    }

    @Test func aNotificationBringsBackAPersonWhoDoesNotOpenTheApp() throws {
        let simulator = try simulator(days: 30, use: .never) { $0[.notificationOpens] = 0.5 }
        let notified = try simulator.measured(.notify)
        let left = try simulator.measured(.opening)
        #expect(notified.delivered(within: "24h") > left.delivered(within: "24h") + 0.2)
        #expect(left.delivered(within: "24h") < 0.1)
    }

    /// The app is swiped away on the first day and never opened again: nothing wakes it anymore.
    @Test(arguments: [DeliveryStrategy.silentPush, .combined, .notify])
    func nothingComesAfterAForceQuit(strategy: DeliveryStrategy) throws {
        var daily = PhoneLife.Options(seed: 2, days: 10, use: .daily)
        daily.density = 0.1
        daily.model[.forceQuitAfterUse] = 1
        let usual = try simulator(seed: 2, days: 10).measured(strategy)
        let quit = try Simulator(stack, life: daily, app: .ideal).measured(strategy)
        // The app is woken only before its first use.
        #expect(quit.wakesPerDay < usual.wakesPerDay / 4)
    }

    /// Each of these makes conditions on the phone worse.
    @Test(arguments: [
        (PhoneModel.Number.hotHoursPerDay, 12.0), (.lowPowerBelow, 0.95), (.focusHoursPerDay, 12),
        (.networkGapsPerDay, 40), (.batteryPerHour, 0.2),
    ])
    func aHarderLifeGivesFewerWakes(number: PhoneModel.Number, value: Double) throws {
        let usual = try simulator().measured(.combined)
        let hard = try simulator { model in
            model[number] = value
            if number == .lowPowerBelow { model[.lowPowerAccepted] = 1 }
        }.measured(.combined)
        #expect(hard.wakesPerDay < usual.wakesPerDay, "\(number)")
    }

    @Test func typesThatChangeTogetherShareAWake() throws {
        let result = try simulator().measured(.backgroundDelivery)
        #expect(Double(result.samples) / 14 > result.wakesPerDay * 5)
    }

    @Test func figuresAddUp() throws {
        let simulator = try simulator()
        let result = try simulator.measured(.combined)
        #expect(result.byMetric.values.reduce(0) { $0 + $1.samples } == result.all.samples)
        #expect(result.byHour.count == 24 && result.byHour.reduce(0) { $0 + $1.samples } == result.all.samples)
        #expect(abs(result.wakesByHour.reduce(0, +) - result.wakesPerDay) < 0.25)
        #expect(result.all.within == result.all.within.sorted() && result.all.within.count == 4)
        #expect(result.byMetric.keys.contains("steps") && result.byMetric.keys.contains("sleep"))
        #expect(try simulator.measured(.combined) == result, "two runs are equal")
        let json = result.wireValue
        #expect(json["deliveredWithin"]["4h"].double == result.all.within[2])
        #expect(json["wakesByHour"].array?.count == 24 && json["byHour"].array?.count == 24)
    }

    /// One missing sample of many is still missing, in figures for programs and for people.
    @Test(arguments: [200, 2000, 34_500])
    func nothingIsCompleteWhileASampleIsMissing(samples: Int) {
        var delays = DelayFigures.Collector()
        for _ in 1..<samples { delays.add(60) }
        delays.add(nil)
        #expect(delays.figures.within.allSatisfy { $0 < 1 && DelayFigures.percent($0) == "99 %" })
        #expect(DelayFigures.percent(1) == "100 %" && DelayFigures.percent(0.994) == "99 %")
    }

    @Test func varyingANumberSaysWhichPairsTurn() throws {
        let generous = try simulator { $0[.deliveriesPerDay] = 24 }
        let base = StrategyOrder([
            try generous.measured(.backgroundDelivery), try generous.measured(.appRefresh),
        ])
        #expect(base.strategies == [.backgroundDelivery, .appRefresh])
        // A system that allows all refreshes but hardly any deliveries.
        let simulator = try simulator { model in
            (model[.deliveriesPerDay], model[.refreshesPerDay], model[.refreshChance]) = (0.1, 24, 1)
        }
        let other = StrategyOrder([
            try simulator.measured(.backgroundDelivery), try simulator.measured(.appRefresh),
        ])
        #expect(other.turned(from: base) == [.init(.appRefresh, .backgroundDelivery)])
        #expect(base.turned(from: base).isEmpty)
    }
}
