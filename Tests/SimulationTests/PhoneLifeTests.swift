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
            // A workout may contain NaN, which isn't equal to itself, so the descriptions are compared.
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
        let lives = try (2...6).map { try PhoneLife(.worst(seed: $0, days: 30)) }
        let events = lives.flatMap { life in (0..<30).flatMap { life.events(of: $0).map(\.event) } }
        for event in [
            PhoneEvent.lock, .unlock, .charging(true), .lowPower(true), .sleepFocus(true), .focus(true), .load(0.9),
            .openApp, .closeApp,
            .terminateApp, .forceQuit, .reboot, .network(NetworkPath(isSatisfied: false, interface: nil)),
        ] { #expect(events.contains(event), "\(event)") }
        #expect(events.contains { if case .clock(let offset) = $0 { offset != .zero } else { false } })
    }

    @Test func aPhoneIsPickedUpSomeEightyTimesADayForMinutesAndLockedBetween() throws {
        let days = 20
        let life = try PhoneLife(.init(seed: 3, days: days))
        var pickups = 0
        var used = Duration.zero
        for day in 0..<days {
            var since: Instant?
            for timed in life.events(of: day) {
                if timed.event == .unlock {
                    #expect(since == nil, "unlocked twice")
                    since = timed.at
                    pickups += 1
                } else if timed.event == .lock {
                    used += timed.at - (try #require(since))
                    since = nil
                }
            }
        }
        #expect((60...100).contains(pickups / days))
        #expect((60...360).contains(used.seconds / Double(pickups)))
    }

    @Test func theWatchHandsOverInBurstsAndRestsAtNight() throws {
        let days = 20
        let life = try PhoneLife(.init(seed: 4, days: days))
        var bursts = Array(repeating: 0, count: 24)
        var samples = 0
        let book = LifeBook(life)
        for day in 0..<days {
            for timed in life.events(of: day) {
                guard case .arrive(let added, _) = timed.event else { continue }
                bursts[book.hour(of: timed.at)] += 1
                samples += added.count
            }
        }
        let byDay = bursts[9..<21].reduce(0, +) / days / 12
        let byNight = bursts[0..<6].reduce(0, +) / days / 6
        #expect((4...40).contains(byDay) && byNight <= 3)
        #expect(samples / bursts.reduce(0, +) >= 5, "a burst has several samples")
    }

    @Test(arguments: [(AppUse.never, 0.0...0.0), (.weekly, 0.02...0.4), (.daily, 1.5...2.5), (.often, 8...16)])
    func theAppIsOpenedAsOftenAsAsked(use: AppUse, perDay: ClosedRange<Double>) throws {
        let days = 40
        let life = try PhoneLife(.init(seed: 5, days: days, use: use))
        let opened = (0..<days).reduce(0) { count, day in count + life.events(of: day).count { $0.event == .openApp } }
        #expect(perDay.contains(Double(opened) / Double(days)))
    }

    @Test func hoursAreThoseOfTheClockOnTheWall() throws {
        let book = LifeBook(try PhoneLife(.init(seed: 1, days: 3)))
        for day in 0..<3 {
            #expect(book.hour(of: book.start(of: day)) == 0)
            #expect(book.hour(of: book.start(of: day) + .seconds(3600 * 13 + 1)) == 13)
            #expect(book.hour(of: book.start(of: day + 1) + .seconds(-1)) == 23)
        }
        #expect(book.hour(of: book.start(of: 0) + .seconds(-3601)) == 22)
    }
}
