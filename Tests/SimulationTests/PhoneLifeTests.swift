import BackgroundDelivery
import HealthModel
import Simulation
import Testing

struct PhoneLifeTests {
    @Test func theSameSeedIsTheSameLifeAndAnotherIsNot() throws {
        let life = try PhoneLife(.init(seed: 5, days: 3))
        let again = try PhoneLife(.init(seed: 5, days: 3))
        let other = try PhoneLife(.init(seed: 6, days: 3))
        for day in 0..<3 {
            // NaN of a workout isn't equal to itself: the descriptions are.
            #expect("\(life.events(of: day))" == "\(again.events(of: day))")
            #expect(life.events(of: day).map(\.at) != other.events(of: day).map(\.at))
        }
    }

    @Test func ratesAreThoseOfAPersonWithAWatch() throws {
        let days = 30
        let life = try PhoneLife(.init(seed: 1, days: days))
        var byType: [String: Int] = [:]
        var deletions = 0
        var late = 0
        for day in 0..<days {
            for timed in life.events(of: day) {
                guard case .arrive(let added, let deleted) = timed.event else { continue }
                for sample in added {
                    byType[sample.type, default: 0] += 1
                    #expect(sample.start <= sample.end && sample.saved <= timed.at)
                    if timed.at - sample.saved > .seconds(3600) { late += 1 }
                }
                deletions += deleted.count
            }
        }
        func perDay(_ type: String) -> Int { byType[type, default: 0] / days }
        #expect((290...1200).contains(perDay("HKQuantityTypeIdentifierHeartRate")))
        #expect((100...600).contains(perDay("HKQuantityTypeIdentifierStepCount")))
        #expect((150...1200).contains(perDay("HKQuantityTypeIdentifierActiveEnergyBurned")))
        #expect((10...60).contains(perDay("HKCategoryTypeIdentifierSleepAnalysis")))
        #expect((5...12).contains(perDay("HKQuantityTypeIdentifierHeartRateVariabilitySDNN")))
        #expect(byType["HKWorkoutTypeIdentifier", default: 0] > 0)
        #expect(deletions >= 3 * days, "the resting rate is replaced three times a day")
        #expect(late > 0, "Watches hand over late")
    }

    @Test func everythingThatHoldsDeliveryBackHappens() throws {
        let life = try PhoneLife(.worst(seed: 2, days: 30))
        let events = (0..<30).flatMap { life.events(of: $0).map(\.event) }
        for event in [
            PhoneEvent.lock, .unlock, .charging(true), .lowPower(true), .sleepFocus(true), .openApp, .closeApp,
            .terminateApp, .forceQuit, .reboot, .network(NetworkPath(isSatisfied: false, interface: nil)),
        ] { #expect(events.contains(event), "\(event)") }
        #expect(events.contains { if case .clock(let offset) = $0 { offset != .zero } else { false } })
    }
}
