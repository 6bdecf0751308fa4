import BackgroundDelivery
import HealthModel
import Simulation

/// What the person, the Watch and the phone do, read from the events of many days.
extension PhoneExpectation {
    private typealias Day = [(hour: Double, event: PhoneEvent)]

    private static func hours(_ day: Day, _ event: PhoneEvent) -> [Double] {
        day.filter { $0.event == event }.map(\.hour)
    }

    private static func perDay(_ days: [Day], _ event: PhoneEvent) -> Double {
        days.map { Double(hours($0, event).count) }.mean
    }

    /// The hours between each first event and the second one that follows it.
    private static func lengths(_ days: [Day], _ first: PhoneEvent, _ second: PhoneEvent) -> [Double] {
        days.flatMap { day in
            hours(day, first).compactMap { from in hours(day, second).first { $0 > from }.map { $0 - from } }
        }
    }

    /// The times longer than half an hour for which nobody picks up the phone on a day of many pickups.
    private static func quiet(_ model: PhoneModel) throws -> [[Double]] {
        try model.with(.pickupsPerDay, 300).days(60).map { day in
            zip(hours(day, .lock), hours(day, .unlock).dropFirst()).map { $1 - $0 }.filter { $0 > 0.5 }
        }
    }

    static let person: [PhoneExpectation] = [
        .init(.pickupsPerDay, "unlocks a day", 60...100) { perDay(try $0.days(20), .unlock) },
        .init(.pickupMinutes, "minutes of a pickup", 1.8...3.5) { lengths(try $0.days(20), .unlock, .lock).mean * 60 },
        .init(.quietSpellsPerDay, "times without the phone a day", 0.7...1.3) {
            try quiet($0).map { Double($0.count) }.mean
        },
        .init(.quietSpellHours, "hours of such a time", 1.1...2) { try quiet($0).flatMap(\.self).mean },
        .init(.wakesUpAtHour, "hour of the first pickup", 6...8.5) {
            try $0.days(20).compactMap { hours($0, .unlock).first }.mean
        },
        .init(.fallsAsleepAtHour, "hour of the Sleep Focus", 21.5...24) {
            try $0.days(20).flatMap { hours($0, .sleepFocus(true)) }.mean
        },
        .init(.weeklyOpens, "openings a week", 0.7...1.4) { perDay(try $0.days(400, use: .weekly), .openApp) * 7 },
        .init(.dailyOpens, "openings a day", 1.5...3) { perDay(try $0.days(40, use: .daily), .openApp) },
        .init(.oftenOpens, "openings a day, used often", 8...16) { perDay(try $0.days(40, use: .often), .openApp) },
        .init(.usualOpens, "openings at about the same time of day", 0.6...0.85) { model in
            let times = try model.with(.dailyOpens, 1).days(100).compactMap { day -> Double? in
                guard let up = hours(day, .sleepFocus(false)).first, let down = hours(day, .sleepFocus(true)).first
                else { return nil }
                return hours(day, .openApp).first.map { ($0 - up) / (down - up) }
            }
            // The tenth of the waking time in which there are the most.
            let most = times.map { from in times.count { $0 >= from && $0 < from + 0.1 } }.max() ?? 0
            return Double(most) / Double(max(1, times.count))
        },
        .init(.openSeconds, "seconds on the screen", 45...80) {
            lengths(try $0.with(.pickupMinutes, 30).days(100), .openApp, .closeApp).mean * 3600
        },
        .init(.forceQuitAfterUse, "openings after which it is swiped away", 0.035...0.07) {
            let days = try $0.days(200, use: .often)
            return perDay(days, .forceQuit) / perDay(days, .openApp)
        },
        // A notification a third of a day brings the person back, so a sample waits for half of that.
        .init(.notificationsPerDay, "hours that the middle sample waits", 3...5.5) {
            let phone = $0.favourable([.notificationOpens: 1, .deliveriesPerDay: 10_000])
            return try (phone.result(.notify).median ?? 0) / 3600
        },
        // Hourly notifications, of which every seventh is opened.
        .init(.notificationOpens, "hours that the middle sample waits", 3.3...7) {
            let phone = $0.favourable([.notificationsPerDay: 24, .deliveriesPerDay: 10_000])
            return try (phone.result(.notify, days: 30).median ?? 0) / 3600
        },
        .init(.workoutsPerDay, "workouts a week", 2.4...4.2) {
            let workouts = samples(try $0.days(200, density: 0.1)).flatMap(\.self)
                .filter { $0.sample.type == HealthType.workoutIdentifier && $0.sample.saved == $0.sample.end }
            return Double(workouts.count) * 7 / 200
        },
        .init(.focusHoursPerDay, "hours a day in a Focus", 1.5...2.6) {
            let days = try $0.days(70)
            return lengths(days, .focus(true), .focus(false)).reduce(0, +) / 70
        },
    ]

    // MARK: The Watch

    private static func samples(_ days: [Day]) -> [[(hour: Double, sample: LifeSample)]] {
        days.map { day in
            day.flatMap { timed -> [(hour: Double, sample: LifeSample)] in
                guard case .arrive(let added, _) = timed.event else { return [] }
                return added.map { (timed.hour, $0) }
            }
        }
    }

    private static let heart = "HKQuantityTypeIdentifierHeartRate"

    /// The hours between two handovers of a Watch that always has a heart rate to hand over.
    private static func gaps(
        _ model: PhoneModel, _ numbers: [PhoneModel.Number: Double] = [:], in hours: Range<Double>,
        days: Int = 60
    ) throws -> [[Double]] {
        let lab = model.with([.watchAfterPickup: 0, .workoutsPerDay: 0, .heartRateMinutes: 0.2]).with(numbers)
        return samples(try lab.days(days, density: 0.1)).map { day in
            let times = Set(day.filter { $0.sample.type == heart && hours.contains($0.hour) }.map(\.hour)).sorted()
            return zip(times, times.dropFirst()).map { $1 - $0 }
        }
    }

    static let watch: [PhoneExpectation] = [
        .init(.watchDayMinutes, "minutes between handovers by day", 9...16) {
            try gaps($0, [.watchApartDays: 0], in: 10..<20).flatMap(\.self).mean * 60
        },
        .init(.watchNightMinutes, "minutes between handovers at night", 45...80) {
            try gaps($0, [.watchApartDays: 0], in: 0..<5).flatMap(\.self).mean * 60
        },
        .init(.watchAfterPickup, "pickups with a handover within a minute", 0.22...0.42) {
            let lab = $0.with([
                .watchDayMinutes: 600, .watchApartDays: 0, .workoutsPerDay: 0, .heartRateMinutes: 0.02,
            ])
            let shares = try lab.days(20, density: 0.1).map { day -> Double in
                let arrivals = samples([day]).flatMap(\.self).filter { $0.sample.type == heart }.map(\.hour)
                let pickups = hours(day, .unlock)
                let followed = pickups.count { up in arrivals.contains { $0 > up && $0 - up < 1 / 60 } }
                return Double(followed) / Double(max(1, pickups.count))
            }
            return shares.mean
        },
        .init(.watchAfterWorkoutMinutes, "minutes until a workout arrives, at most", 1.4...2.1) {
            let lab = $0.with([
                .watchDayMinutes: 600, .watchApartDays: 0, .watchAfterPickup: 0, .workoutsPerDay: 1,
            ])
            let life = try PhoneLife(.init(seed: 1, days: 60, model: lab))
            let late = samples(try lab.days(60, density: 0.1)).enumerated().flatMap { day, arrived in
                arrived.filter { $0.sample.type == HealthType.workoutIdentifier && $0.sample.saved == $0.sample.end }
                    .map { $0.hour * 60 - ($0.sample.end - life.start(of: day)).seconds / 60 }
            }
            return late.max() ?? 0
        },
        .init(.watchApartDays, "days with Watch and phone apart", 0.14...0.28) {
            try gaps($0, [.watchNightMinutes: 12], in: 9..<24, days: 200).map { $0.contains { $0 > 1 } ? 1.0 : 0 }.mean
        },
        .init(.watchApartHours, "hours apart", 3...5.5) {
            try gaps($0, [.watchNightMinutes: 12, .watchApartDays: 1], in: 8..<40).compactMap { $0.max() }.mean
        },
        .init(.heartRateMinutes, "minutes between heart rates", 3...7) {
            let rates = samples(try $0.with(.workoutsPerDay, 0).days(5, density: 1)).map { day in
                Double(day.count { $0.sample.type == heart })
            }
            return 1440 / rates.mean
        },
        .init(.workoutSampleSeconds, "seconds between heart rates in a workout", 3...8) {
            let lab = $0.with([.workoutsPerDay: 1, .heartRateMinutes: 1000])
            let all = samples(try lab.days(5, density: 1)).flatMap(\.self).map(\.sample)
            let seconds = all.filter { $0.type == HealthType.workoutIdentifier && $0.saved == $0.end }
                .map { ($0.end - $0.start).seconds }.reduce(0, +)
            return seconds / Double(all.count { $0.type == heart && $0.value >= 110 })
        },
    ]

    // MARK: The phone

    private static func levels(_ day: Day) -> [Double] {
        day.compactMap { if case .battery(let level) = $0.event { level } else { nil } }
    }

    private static let offline = PhoneEvent.network(NetworkPath(isSatisfied: false, interface: nil))

    /// The hours of each time without a network.
    private static func offline(_ model: PhoneModel, days: Int = 13) throws -> [[Double]] {
        try model.days(days).map { day in
            let paths = day.compactMap { timed -> (hour: Double, isOn: Bool)? in
                guard case .network(let path) = timed.event else { return nil }
                return (timed.hour, path.isSatisfied)
            }
            return paths.filter { !$0.isOn }.compactMap { off in
                paths.first { $0.isOn && $0.hour > off.hour }.map { $0.hour - off.hour }
            }
        }
    }

    static let device: [PhoneExpectation] = [
        // Pickups of seconds, an hour apart, and a sample each minute: each is delivered while it can be read.
        .init(.readableAfterLockMinutes, "minutes a day in which the locked phone delivers", 140...270) {
            let phone = $0.favourable([
                .pickupsPerDay: 24, .pickupMinutes: 0.2, .heartRateMinutes: 0.1, .deliveriesPerDay: 10_000,
                .deliveryBurst: 100,
                .deliverySpacingMinutes: 0, .deliveryDelayLowMinutes: 0, .deliveryDelayHighMinutes: 0,
            ])
            return try phone.result(.backgroundDelivery).wakesPerDay
        },
        .init(.batteryPerHour, "share of the battery an hour", 0.035...0.07) {
            let drops = try $0.with(.chargesByDay, 0).days(30).flatMap { day in
                zip(levels(day), levels(day).dropFirst()).map { $0 - $1 }.filter { $0 > 0 }
            }
            return drops.mean
        },
        .init(.lowPowerBelow, "battery at which Low Power Mode begins", 0.16...0.2) { model in
            let lab = model.with([
                .lowPowerAccepted: 1, .batteryPerHour: 0.03, .chargesAtNight: 0, .chargesByDay: 0,
            ])
            return try lab.days(30).compactMap { day -> Double? in
                guard let at = hours(day, .lowPower(true)).first else { return nil }
                return levels(day.filter { $0.hour <= at }).last
            }.mean
        },
        .init(.lowPowerAccepted, "days of low battery in Low Power Mode", 0.35...0.65) {
            let lab = $0.with([.batteryPerHour: 0.08, .chargesAtNight: 0, .chargesByDay: 0])
            return perDay(try lab.days(100), .lowPower(true))
        },
        .init(.chargesAtNight, "nights on the charger", 0.9...0.985) {
            perDay(try $0.with(.chargesByDay, 0).days(200), .charging(true))
        },
        .init(.plugsInBeforeSleepMinutes, "minutes from plug to sleep", 11...20) {
            lengths(try $0.with(.chargesByDay, 0).days(60), .charging(true), .sleepFocus(true)).mean * 60
        },
        .init(.chargesByDay, "days with an hour on a charger", 0.2...0.42) {
            perDay(try $0.with(.chargesAtNight, 0).days(200), .charging(true))
        },
        .init(.hotHoursPerDay, "hours of load a day", 0.5...1) {
            lengths(try $0.days(60), .load(0.9), .load(0)).mean
        },
        .init(.terminationsPerDay, "times a day", 1.6...2.6) { perDay(try $0.days(60), .terminateApp) },
        .init(.rebootsPerDay, "times a day", 0.035...0.075) {
            perDay(try $0.with(.pickupsPerDay, 5).days(600), .reboot)
        },
        .init(.flightsPerDay, "flights a month", 0.6...1.3) {
            try offline($0.with([.networkGapsPerDay: 0, .pickupsPerDay: 5]), days: 600).map { Double($0.count) }.mean
                * 30
        },
        .init(.networkGapsPerDay, "gaps a day", 1.5...2.6) {
            try offline($0.with([.flightsPerDay: 0, .networkGapMinutes: 2])).map { Double($0.count) }.mean
        },
        .init(.networkGapMinutes, "minutes of a gap", 14...27) {
            try offline($0.with([.flightsPerDay: 0, .networkGapsPerDay: 1])).flatMap(\.self).mean * 60
        },
    ]
}
