/// What one sample's metadata shows about where it was made: `HKTimeZone`, the zone in which the sample was made.
package struct ZoneObservation: Sendable, Hashable {
    /// The hour, counted in whole hours since 1970 in UTC.
    package var hour: Int64
    /// IANA name.
    package var zone: String
    /// The rank of the source (`SourceRank`): the lowest rank in an hour decides.
    package var rank: Int

    package init(hour: Int64, zone: String, rank: Int) { (self.hour, self.zone, self.rank) = (hour, zone, rank) }

    package static func hour(of instant: Instant) -> Int64 { instant.microseconds.flooredQuotient(lengthOfHour) }
    /// When an hour begins.
    static func start(ofHour hour: Int64) -> Instant { Instant(microseconds: hour * lengthOfHour) }
    /// Microseconds.
    private static let lengthOfHour = 3600 * Instant.microsecondsPerSecond
}

/// A stretch of time in which all observations show the same clock.
struct ZoneStay: Equatable {
    /// The zone as named by the first observation.
    var zone: String
    /// The observed hours, in ascending order; at least two.
    var hours: [Int64]

    var start: Instant { ZoneObservation.start(ofHour: hours[0]) }
}

/// Each zone's clock, looked up once.
struct ZoneClocks {
    private var zones: [String: ZoneOffsets] = [:]

    /// How far the zone's clock is ahead of UTC in an hour, in microseconds.
    mutating func offset(_ zone: String, _ hour: Int64) -> Int64 {
        let offsets: ZoneOffsets
        if let known = zones[zone] {
            offsets = known
        } else {
            offsets = ZoneOffsets.of(zone)
            zones[zone] = offsets
        }
        return offsets.offset(at: ZoneObservation.start(ofHour: hour))
    }

    mutating func agree(_ a: String, _ b: String, _ hours: some Sequence<Int64>) -> Bool {
        a == b || hours.allSatisfy { offset(a, $0) == offset(b, $0) }
    }

    /// The stays that follow from the observations, in order. This is a pure function; the order of the observations
    /// doesn't matter.
    ///
    /// The source with the best rank in an hour decides; if several share that rank but show different clocks, the hour
    /// is ignored. Consecutive hours with the same clock form a stay; a single hour among others doesn't.
    mutating func stays(_ observations: [ZoneObservation]) -> [ZoneStay] {
        var runs: [ZoneStay] = []
        for (hour, zone) in spoken(observations) { append(zone, [hour], to: &runs) }
        var stays: [ZoneStay] = []
        for run in runs where run.hours.count > 1 { append(run.zone, run.hours, to: &stays) }
        return stays
    }

    private mutating func append(_ zone: String, _ hours: [Int64], to runs: inout [ZoneStay]) {
        if let last = runs.last, agree(last.zone, zone, hours) {
            runs[runs.count - 1].hours += hours
        } else {
            runs.append(ZoneStay(zone: zone, hours: hours))
        }
    }

    /// What was observed in each hour that isn't ignored.
    private mutating func spoken(_ observations: [ZoneObservation]) -> [(hour: Int64, zone: String)] {
        let sorted = observations.sorted { ($0.hour, $0.rank, $0.zone) < ($1.hour, $1.rank, $1.zone) }
        var spoken: [(hour: Int64, zone: String)] = []
        var best: Int?
        var isClear = true
        for observation in sorted {
            if spoken.last?.hour != observation.hour || best == nil {
                if !isClear { spoken.removeLast() }
                spoken.append((observation.hour, observation.zone))
                best = observation.rank
                isClear = true
            } else if observation.rank == best,
                let first = spoken.last?.zone,
                !agree(first, observation.zone, [observation.hour])
            {
                isClear = false
            }
        }
        if !isClear { spoken.removeLast() }
        return spoken
    }
}
