import Foundation

/// A zone timeline, represented as stretches with a constant offset from UTC: every question about days is answered by
/// arithmetic on these.
struct OffsetTimeline: Sendable {
    /// Where each stretch begins; the first begins before all instants.
    let starts: [Instant]
    /// Microseconds east of Greenwich.
    let offsets: [Int64]

    /// Instants far enough from the limits of a 64-bit integer that adding a few days to them can't overflow.
    static let earliest = Instant(microseconds: -(1 << 61))
    static let latest = Instant(microseconds: 1 << 61)
    /// The counterpart of `earliest`: the last instant before `latest`.
    static let last = Instant(microseconds: (1 << 61) - 1)

    init(_ entries: [ZoneTimeline.Entry]) {
        var starts: [Instant] = []
        var offsets: [Int64] = []
        for (index, entry) in entries.enumerated() {
            let from = index == 0 ? Self.earliest : max(entry.from, Self.earliest)
            let until = index + 1 < entries.count ? entries[index + 1].from : Self.latest
            let zone = ZoneOffsets.of(entry.zone)
            for (piece, offset) in zip(zone.starts.indices, zone.offsets) {
                let start = max(from, zone.starts[piece])
                let end = min(until, piece + 1 < zone.starts.count ? zone.starts[piece + 1] : Self.latest)
                // Neighbouring stretches with the same offset are joined, so that a flight between zones with the same
                // offset doesn't split an hour in two.
                guard start < end, offsets.last != offset else { continue }
                starts.append(start)
                offsets.append(offset)
            }
        }
        (self.starts, self.offsets) = (starts, offsets)
    }

    var indices: Range<Int> { starts.indices }

    /// The index of the stretch that contains an instant.
    func index(of instant: Instant) -> Int { max(0, starts.firstPlace(behind: { $0 <= instant }) - 1) }

    func end(of index: Int) -> Instant { index + 1 < starts.count ? starts[index + 1] : Self.latest }

    /// The ranges of instants, in order, at which the local clock shows a time in this range (microseconds since 1970
    /// as if local time were UTC).
    func ranges(ofLocal local: Range<Int64>) -> [Range<Instant>] {
        pieces(ofLocal: local).map(\.range).united()
    }

    struct Piece: Equatable {
        var range: Range<Instant>
        /// Microseconds east of Greenwich.
        var offset: Int64
    }

    /// The same ranges, but cut wherever the offset changes.
    func pieces(ofLocal local: Range<Int64>) -> [Piece] {
        var pieces: [Piece] = []
        // No offset exceeds a day, so a stretch that begins later can't reach the range.
        let margin = 86_400 * Instant.microsecondsPerSecond
        var index = index(of: Instant(microseconds: local.lowerBound - margin))
        while index < starts.count, starts[index].microseconds < local.upperBound + margin {
            let start = max(starts[index], Instant(microseconds: local.lowerBound - offsets[index]))
            let end = min(end(of: index), Instant(microseconds: local.upperBound - offsets[index]))
            if start < end { pieces.append(Piece(range: start..<end, offset: offsets[index])) }
            index += 1
        }
        return pieces
    }
}

/// The offsets of one zone from 1900 to 2100, read from the zone database once per process.
final class ZoneOffsets: Sendable {
    let starts: [Instant]
    /// Microseconds east of Greenwich.
    let offsets: [Int64]

    private init(zone: TimeZone) {
        var date = Date(timeIntervalSince1970: -2_208_988_800)
        let last = Date(timeIntervalSince1970: 4_102_444_800)
        var starts: [Instant] = [OffsetTimeline.earliest]
        var offsets = [Self.offset(of: zone, at: date)]
        // Despite its name it also finds changes that have nothing to do with daylight saving time.
        while let next = zone.nextDaylightSavingTimeTransition(after: date), next > date, next < last {
            date = next
            let offset = Self.offset(of: zone, at: next)
            guard offset != offsets.last else { continue }
            starts.append(Instant(seconds: Int64(next.timeIntervalSince1970.rounded())))
            offsets.append(offset)
        }
        (self.starts, self.offsets) = (starts, offsets)
    }

    private static func offset(of zone: TimeZone, at date: Date) -> Int64 {
        Int64(zone.secondsFromGMT(for: date)) * Instant.microsecondsPerSecond
    }

    /// Microseconds east of Greenwich at an instant.
    func offset(at instant: Instant) -> Int64 {
        offsets[max(0, starts.firstPlace(behind: { $0 <= instant }) - 1)]
    }

    /// UTC for a name that the zone database doesn't know: `ZoneTimeline` has already refused such names.
    static func of(_ name: String) -> ZoneOffsets {
        cache.lock.withLock {
            if let known = cache.zones[name] { return known }
            let made = ZoneOffsets(zone: TimeZone(identifier: name) ?? .gmt)
            cache.zones[name] = made
            return made
        }
    }

    /// `@unchecked`: `zones` is only read and written while the lock is held.
    private final class Cache: @unchecked Sendable {
        let lock = NSLock()
        var zones: [String: ZoneOffsets] = [:]
    }

    private static let cache = Cache()
}
