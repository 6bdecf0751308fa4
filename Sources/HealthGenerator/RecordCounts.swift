import HealthModel

/// How many records each stream has on each day. In an ordinary life the counts depend only on the day, so that a
/// longer period contains a shorter one; otherwise they add up to exactly what was requested.
struct RecordCounts {
    /// A blood-pressure reading is four `Record` elements: two in its correlation, and two repeating them at top level.
    static let recordsPerReading = 4
    private static let readingsPerDay = 0.1
    /// The day from which days are counted: the last one of an export, unless specified otherwise.
    private static let lastDay = LocalDay(year: 2025, month: 4, day: 5).number

    /// One stream's records, handed out day by day.
    struct Share {
        /// On all days of an ordinary life.
        let natural: Int
        /// On all days; nil for an ordinary life.
        let requested: Int?
        private(set) var passed = 0

        /// How many records the next day has, of which an ordinary life has this many.
        mutating func next(_ count: Int) -> Int {
            guard let requested else { return count }
            guard natural > 0 else { return 0 }
            let before = requested * passed / natural
            passed += count
            return requested * passed / natural - before
        }
    }

    let shares: [Share]
    private let readings: Int?
    let hasHeight: Bool
    /// The number of `Record` elements on all days.
    let total: Int

    init(_ life: Life, _ streams: [RecordStream], records: Int?) {
        let natural = streams.map { stream in
            life.plans.reduce(0) { $0 + stream.records(on: $1, life.person) }
        }
        let days = Double(life.plans.count)
        guard let records else {
            shares = natural.map { Share(natural: $0, requested: nil) }
            readings = nil
            hasHeight = true
            let read = life.plans.reduce(0) { $0 + Self.natural(Self.readingsPerDay, on: $1.day) }
            total = natural.reduce(0, +) + read * Self.recordsPerReading + 1
            return
        }
        let naturalReadings = Int((Self.readingsPerDay * days).rounded())
        let all = natural.reduce(0, +) + naturalReadings * Self.recordsPerReading + 1
        let share = min(1, Double(records) / Double(all))
        let hasHeight = records >= 50
        let readings = Int(Double(naturalReadings) * share)
        var counts = zip(streams, natural).map { $0.scales ? 0 : Int(Double($1) * share) }
        let fixed = counts.reduce(0, +) + readings * Self.recordsPerReading + (hasHeight ? 1 : 0)
        let rest = max(0, records - fixed)
        let sum = streams.indices.reduce(0) { $0 + (streams[$1].scales ? natural[$1] : 0) }
        for index in streams.indices where streams[index].scales {
            counts[index] = Int(Double(rest) * Double(natural[index]) / Double(max(1, sum)))
        }
        // What is left after rounding goes to heart rates, which have the most records.
        let left = records - (hasHeight ? 1 : 0) - readings * Self.recordsPerReading - counts.reduce(0, +)
        if let heart = streams.firstIndex(where: { $0.type.hasSuffix("IdentifierHeartRate") }) { counts[heart] += left }
        shares = zip(natural, counts).map { Share(natural: $0, requested: $1) }
        (self.readings, self.hasHeight) = (readings, hasHeight)
        total = records
    }

    /// How many blood-pressure readings there are on a day.
    /// - Parameter index: the day's index among all `days`.
    func readings(on day: LocalDay, _ index: Int, of days: Int) -> Int {
        guard let readings else { return Self.natural(Self.readingsPerDay, on: day) }
        return readings * (index + 1) / days - readings * index / days
    }

    /// One day's share of a rate, evenly spread over the calendar.
    static func natural(_ perDay: Double, on day: LocalDay) -> Int {
        // Rates have two decimals at most.
        let hundredths = Int((perDay * 100).rounded())
        /// The total up to that day, rounded down.
        func past(_ days: Int) -> Int {
            let amount = hundredths * days
            return amount >= 0 ? amount / 100 : -((99 - amount) / 100)
        }
        return past(day.number - lastDay) - past(day.number - lastDay - 1)
    }
}
