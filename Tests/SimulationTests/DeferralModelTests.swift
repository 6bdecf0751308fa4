import HealthModel
import Simulation
import TestSupport
import Testing

/// What developers report of background time, as numbers.
struct DeferralModelTests {
    private let model = DeferralModel()
    private var ready: DeferralModel.Inputs {
        var inputs = DeferralModel.Inputs()
        (inputs.isCharging, inputs.load, inputs.opensPerDay) = (true, 0, 4)
        return inputs
    }
    private var unwilling: DeferralModel.Inputs {
        var inputs = DeferralModel.Inputs()
        (inputs.battery, inputs.load, inputs.opensPerDay) = (0.05, 1, 0)
        (inputs.isLowPower, inputs.isSleepFocus) = (true, true)
        return inputs
    }

    @Test func aChangeWaitsAMinuteToAnHourInTheBackgroundAndUpToFourHoursTerminated() {
        #expect(model.backgroundDelay == 60...3600)
        #expect(model.terminatedDelay == 60...4 * 3600)
        var random = SimulatedRandom(seed: 1)
        var longest = Duration.zero
        for _ in 0..<2000 {
            for inputs in [ready, unwilling] {
                let here = model.delay(afterTermination: false, inputs, using: &random)
                let gone = model.delay(afterTermination: true, inputs, using: &random)
                #expect((60...3600).contains(here.components.seconds))
                #expect((60...14_400).contains(gone.components.seconds))
                longest = max(longest, gone)
            }
        }
        #expect(longest > .seconds(3 * 3600))
    }

    @Test(arguments: [(WakeKind.delivery, 1...4), (.refresh, 0...3), (.processing, 0...1)])
    func aDayHasSoManyWakes(kind: WakeKind, range: ClosedRange<Int>) {
        #expect(model.wakesPerDay[kind] == range)
        var random = SimulatedRandom(seed: 2)
        var seen: Set<Int> = []
        for _ in 0..<2000 {
            seen.insert(model.budget(kind, ready, using: &random))
            seen.insert(model.budget(kind, unwilling, using: &random))
        }
        #expect(seen == Set(range))
    }

    @Test func twoPushesAnHour() {
        #expect(model.pushesPerHour == 2)
    }

    @Test func runsAreEndedAfterTheirTime() {
        #expect(model.maxRunSeconds(.backgroundDelivery) == 15)
        #expect(model.maxRunSeconds(.appRefresh) == 30)
        #expect(model.maxRunSeconds(.silentPush) == 30)
        #expect(model.maxRunSeconds(.processing) == 600)
    }

    /// Each input alone moves willingness its way.
    @Test func everyInputCounts() {
        let usual = DeferralModel.Inputs()
        func with(_ change: (inout DeferralModel.Inputs) -> Void) -> Double {
            var inputs = usual
            inputs.battery = 0.6
            change(&inputs)
            return model.willingness(inputs)
        }
        let base = with { _ in }
        #expect(with { $0.battery = 0.1 } < base)
        #expect(with { $0.isCharging = true } > base)
        #expect(with { $0.load = 0.9 } < base)
        #expect(with { $0.isLowPower = true } < base)
        #expect(with { $0.isSleepFocus = true } < base)
        #expect(with { $0.opensPerDay = 0 } < base)
    }
}
