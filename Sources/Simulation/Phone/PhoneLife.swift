import BackgroundDelivery
import HealthModel

/// The life of a person with an iPhone and a Watch, day by day, from one seed. Pure: the same options give the same
/// days.
package struct PhoneLife: Sendable {
    package struct Options: Sendable {
        package var seed: UInt64
        package var days: Int
        package var home = "Europe/Berlin"
        /// The zone on travel days.
        package var abroad = "America/New_York"
        package var firstDay = LocalDay(year: 2025, month: 3, day: 10)
        /// How often the app is opened per day, on average.
        package var opensPerDay = 2.0
        package var forceQuitsPerDay = 0.1
        package var terminationsPerDay = 0.5
        package var rebootsPerDay = 0.05
        package var flightsPerDay = 0.07
        /// The share of days on which the Watch is away from the phone for hours.
        package var watchApart = 0.3
        /// The share of the usual number of samples.
        package var density = 1.0

        package init(seed: UInt64, days: Int) {
            self.seed = seed
            self.days = days
        }

        /// Everything that can hold delivery back, often: the app is opened only every third day, and is often killed,
        /// force-quit or offline.
        package static func worst(seed: UInt64, days: Int) -> Options {
            var options = Options(seed: seed, days: days)
            options.opensPerDay = 0.35
            options.forceQuitsPerDay = 0.4
            options.terminationsPerDay = 3
            options.rebootsPerDay = 0.3
            options.flightsPerDay = 0.3
            options.watchApart = 0.8
            return options
        }
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

    /// When a day of the life begins; the day after the last is the end.
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

/// What is fixed for a day before anything happens on it.
struct DayPlan {
    let options: PhoneLife.Options
    let day: Int
    let start: Instant
    let end: Instant
    let zone: String
    let wakesAt: Instant
    let sleepsAt: Instant
    /// Start and end; nil on a day of rest.
    let workout: Range<Instant>?
    /// Hours without a network, including flights.
    let offline: [Range<Instant>]

    init(options: PhoneLife.Options, day: Int, start: Instant, end: Instant, zone: String) {
        (self.options, self.day, self.start, self.end, self.zone) = (options, day, start, end, zone)
        var random = SimulatedRandom(seed: options.seed, subject: 1, number: day)
        wakesAt = start + random.seconds(6 * 3600, 8 * 3600)
        sleepsAt = start + random.seconds(22 * 3600, 23.5 * 3600)
        let begin = start + random.seconds(9 * 3600, 19 * 3600)
        workout = random.chance(0.45) ? begin..<(begin + random.seconds(1500, 4500)) : nil
        var offline: [Range<Instant>] = []
        // The underground, to work and back.
        if day % 7 < 5 {
            for hour in [8.2, 17.5] {
                let from = start + random.seconds(hour * 3600, (hour + 0.6) * 3600)
                offline.append(from..<(from + random.seconds(600, 2400)))
            }
        }
        let isTravelling = options.trip.map { day == $0.lowerBound || day == $0.upperBound } ?? false
        if random.chance(options.flightsPerDay) || isTravelling {
            let from = start + random.seconds(10 * 3600, 14 * 3600)
            offline.append(from..<(from + random.seconds(2 * 3600, 8 * 3600)))
        }
        self.offline = offline
    }
}
