import BackgroundDelivery
import HealthModel
import Testing

/// Every number of the limits matters: half or double of it is noticed. `strikesUntilStopped` and `wakesPerHour` are 0
/// by default, and so is half or double of that; what 0 means is measured here too.
@Suite struct SystemLimitsNumberTests {
    struct Expectation: Sendable {
        var what: String
        /// What Apple or developers say, in seconds.
        var seconds: Double
        var measure: @Sendable (SystemLimits) -> Double
        /// nil for a number that isn't an option: the exact measurement notices any other value of it in the source.
        var scale: (@Sendable (inout SystemLimits, Double) -> Void)?
    }

    private static func bench(_ limits: SystemLimits, _ app: DeviceState.AppState = .background) -> DeliveryBench {
        let bench = DeliveryBench { $0 = limits }
        bench.register()
        bench.enter(app)
        return bench
    }

    /// The seconds until something is so, looked at each second.
    private static func seconds(_ bench: DeliveryBench, until isSo: (DeliveryBench) -> Bool) -> Double {
        let start = bench.monotonic
        while !isSo(bench), bench.monotonic - start < .seconds(10_000) { bench.pass(DeliveryBench.second) }
        return (bench.monotonic - start).seconds
    }

    private static let expectations: [Expectation] = [
        // A wake lasts about 15 seconds, developers say.
        Expectation(what: "the first strike", seconds: 15) { limits in
            let bench = bench(limits)
            bench.change("steps")
            return seconds(bench) { $0.table.strikes("steps") == 1 }
        } scale: {
            $0.acknowledgeWithin = $0.acknowledgeWithin * $1
        },
        // Apple names none: a quarter of an hour, so that a consumer which is back is heard soon.
        Expectation(what: "the longest wait for a repeat", seconds: 900) { limits in
            let bench = bench(limits)
            bench.change("steps")
            var waits: [Double] = []
            for _ in 0..<12 {
                let strikes = bench.table.strikes("steps")
                _ = seconds(bench) { $0.table.strikes("steps") > strikes }
                waits.append(((bench.deadline ?? bench.monotonic) - bench.monotonic).seconds)
            }
            return waits.max() ?? 0
        },
        // After an hour people are to be reminded to unlock.
        Expectation(what: "the reminder to unlock", seconds: 3600) { limits in
            let bench = bench(limits)
            bench.device.isLocked = true
            bench.change("steps")
            return seconds(bench) { $0.table.isUnlockOverdue(at: $0.now) }
        } scale: {
            $0.unlockReminderAfter = $0.unlockReminderAfter * $1
        },
    ]

    @Test(arguments: 0..<3) func halfAndDoubleAreNoticed(place: Int) {
        let expected = Self.expectations[place]
        #expect(expected.measure(SystemLimits()) == expected.seconds, "\(expected.what)")
        for factor in [0.5, 2] {
            var limits = SystemLimits()
            guard let scale = expected.scale else { continue }
            scale(&limits, factor)
            #expect(expected.measure(limits) != expected.seconds, "\(expected.what), times \(factor)")
        }
    }

    /// By default nothing is held back and nothing is given up; with Apple's numbers, so many wakes and so many strikes.
    @Test(arguments: [(0, 60), (2, 2), (4, 4), (8, 8)]) func anHourHasSoManyWakes(perHour: Int, fires: Int) {
        var limits = SystemLimits()
        limits.wakesPerHour = perHour
        let bench = Self.bench(limits)
        var count = 0
        for _ in 0..<60 {
            count += bench.change("steps").fires.count
            bench.acknowledge("steps")
            bench.now += .seconds(59)
            bench.monotonic += .seconds(59)
        }
        #expect(count == fires)
    }

    @Test(arguments: [1, 3, 6]) func soManyStrikesStopDelivery(strikes: Int) {
        var limits = SystemLimits()
        limits.strikesUntilStopped = strikes
        let bench = Self.bench(limits)
        var fires = bench.change("steps").fires.count
        _ = Self.seconds(bench) { bench in
            fires += bench.look().fires.count
            return bench.table.stoppedConsumers == ["app"]
        }
        #expect(bench.table.strikes("steps") == strikes && fires <= strikes)
    }
}
