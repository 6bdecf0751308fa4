import BackgroundDelivery
import HealthModel

/// The life of a person with an iPhone and a Watch, day by day, from one seed. Pure: the same options give the same
/// days, whatever the app does.
package struct PhoneLife: Sendable {
    package struct Options: Sendable {
        package var seed: UInt64
        package var days: Int
        package var home = "Europe/Berlin"
        /// The zone on travel days.
        package var abroad = "America/New_York"
        package var firstDay = LocalDay(year: 2025, month: 3, day: 10)
        package var use: AppUse
        package var model: PhoneModel
        /// The number of samples, as a share of the usual number.
        package var density = 1.0

        package init(seed: UInt64, days: Int, use: AppUse = .daily, model: PhoneModel = PhoneModel()) {
            (self.seed, self.days, self.use, self.model) = (seed, days, use, model)
        }

        /// Everything that can hold delivery back happens often: the app is seldom opened, and often killed, force-quit
        /// or offline.
        package static func worst(seed: UInt64, days: Int, use: AppUse = .daily) -> Options {
            var options = Options(seed: seed, days: days, use: use)
            options.model[.dailyOpens] = 0.35
            options.model[.forceQuitAfterUse] = 0.5
            options.model[.terminationsPerDay] = 6
            options.model[.rebootsPerDay] = 0.3
            options.model[.flightsPerDay] = 0.3
            options.model[.networkGapsPerDay] = 6
            options.model[.watchApartDays] = 0.8
            options.model[.lowPowerAccepted] = 1
            return options
        }

        package var opensPerDay: Double { use.opensPerDay(model) }
    }

    package let options: Options
    private let zones: ZoneTimeline

    /// - Throws: `ZoneError` for an unknown zone.
    package init(_ options: Options) throws {
        self.options = options
        let home = try ZoneTimeline(zone: options.home)
        guard let leave = options.trip,
            let out = home.ranges(of: options.firstDay.adding(days: leave.lowerBound)).first,
            let back = home.ranges(of: options.firstDay.adding(days: leave.upperBound)).first
        else {
            zones = home
            return
        }
        zones = try ZoneTimeline([
            .init(from: .distantPast, zone: options.home),
            .init(from: out.lowerBound + Self.noon, zone: options.abroad),
            .init(from: back.lowerBound + Self.noon, zone: options.home),
        ])
    }

    static let minute = Duration.seconds(60)
    static let hour = Duration.seconds(3600)
    private static let noon = hour * 12

    /// When a day of the life begins. The life ends when the day after its last day begins.
    package func start(of day: Int) -> Instant {
        zones.ranges(of: options.firstDay.adding(days: day)).first?.lowerBound ?? .epoch
    }

    /// What happens on a day, including its later consequences, ordered by time.
    package func events(of day: Int) -> [TimedEvent] {
        let plan = DayPlan(options: options, day: day, start: start(of: day), end: start(of: day + 1), zone: zone(day))
        var samples = DaySamples(plan)
        return (deviceEvents(plan) + samples.arrivals()).enumerated()
            .sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    private func zone(_ day: Int) -> String {
        let noon = start(of: day) + Self.noon
        return zones.entries.last { $0.from <= noon }?.zone ?? options.home
    }
}

extension PhoneLife.Options {
    /// The days of the trip, first and last; nil in a short life.
    var trip: ClosedRange<Int>? { days >= 14 ? days / 3...(days / 3 + 4) : nil }
}

/// A life shared by several phones: a short one is generated only once.
package final class LifeBook {
    package let life: PhoneLife
    private let starts: [Instant]
    private var days: [Int: [TimedEvent]] = [:]

    /// A month takes about 20 MB.
    private static let longestKept = 60

    package init(_ life: PhoneLife) {
        self.life = life
        starts = (0...life.options.days + 1).map { life.start(of: $0) }
    }

    package func events(of day: Int) -> [TimedEvent] {
        if let known = days[day] { return known }
        let events = life.events(of: day)
        if life.options.days <= Self.longestKept { days[day] = events }
        return events
    }

    package func start(of day: Int) -> Instant { day < starts.count ? starts[day] : life.start(of: day) }

    /// The hour at a moment of the life, 0 to 23, counted from the day's start: where clocks or zone change within a
    /// day, it differs from the local clock's.
    package func hour(of instant: Instant) -> Int {
        let day = starts.firstPlace(behind: { $0 <= instant }) - 1
        // The moment is in the night before the first day.
        guard day >= 0 else { return max(0, 23 - Int((starts[0] - instant).seconds / 3600)) }
        return min(23, Int((instant - starts[day]).seconds / 3600))
    }
}
