import Configuration
import Simulation
import Testing

/// What the profile `battery-friendly` spares on a phone, measured with the stages.
struct BatteryTests {
    @Test(arguments: 1...5) func aBatteryIsSparedByLongerWindows(seed: UInt64) throws {
        var life = PhoneLife.Options(seed: seed, days: 2)
        life.density = 0.3
        // Every wake has its data to deliver, so that there are enough wakes to compare in two days.
        (life.model[.deliveriesPerDay], life.model[.deliverySpacingMinutes]) = (24, 20)
        func measured(_ profile: String?) throws -> StrategyResult {
            // With all handlers in both cases: the profile names some of them.
            try Simulator(shippedStack(profile), life: life, app: .allStages).measured(.backgroundDelivery)
        }
        let (usual, spared) = (try measured(nil), try measured("battery-friendly"))
        let seconds = try #require(usual.runSecondsPerDay)
        #expect(try #require(spared.runSecondsPerDay) < seconds * 0.95, "\(spared.runSecondsPerDay ?? 0) of \(seconds)")
        #expect(
            spared.wakesPerDay == usual.wakesPerDay && usual.wakesPerDay > 4, "when it is woken, the system decides")
        #expect(spared.lost == 0 && spared.doubled == 0)
        #expect(try #require(spared.median) < (try #require(usual.median)) * 1.05 + 60, "and it costs a minute at most")
    }
}
