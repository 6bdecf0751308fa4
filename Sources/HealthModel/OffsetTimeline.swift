import Foundation

/// A zone timeline as stretches of constant offset from UTC: every question about days is arithmetic on these.
struct OffsetTimeline: Sendable {
    /// Where each stretch begins; the first begins before all instants.
    let starts: [Instant]
    /// Microseconds east of Greenwich.
    let offsets: [Instant]

    /// Instants far enough from the ends of the integers that adding a few days to them can't overflow.
    static let earliest: Instant = -(1 << 61)
    static let latest: Instant = 1 << 61

    init(_ entries: [ZoneTimeline.Entry]) {
        var starts: [Instant] = []
        var offsets: [Instant] = []
        for (index, entry) in entries.enumerated() {
            let from = index == 0 ? Self.earliest : max(entry.from, Self.earliest)
            let until = index + 1 < entries.count ? entries[index + 1].from : Self.latest
            let zone = ZoneOffsets.of(entry.zone)
            for (piece, offset) in zip(zone.starts.indices, zone.offsets) {
                let start = max(from, zone.starts[piece])
                let end = min(until, piece + 1 < zone.starts.count ? zone.starts[piece + 1] : Self.latest)
                // Stretches of equal offset are one, so that a flight within a zone's time cuts no hour in two.
                guard start < end, offsets.last != offset else { continue }
                starts.append(start)
                offsets.append(offset)
            }
        }
        self.starts = starts
        self.offsets = offsets
    }

    var indices: Range<Int> { starts.indices }

    /// The stretch that holds an instant.
    func index(of instant: Instant) -> Int {
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= instant { low = middle } else { high = middle }
        }
        return low
    }

    func end(of index: Int) -> Instant { index + 1 < starts.count ? starts[index + 1] : Self.latest }

    /// The instants when a local clock shows a time of this range (microseconds since 1970 as if local time were UTC), in order.
    func ranges(ofLocal local: Range<Instant>) -> [Range<Instant>] {
        var ranges: [Range<Instant>] = []
        for piece in pieces(ofLocal: local) {
            if let last = ranges.last, last.upperBound == piece.range.lowerBound {
                ranges[ranges.count - 1] = last.lowerBound..<piece.range.upperBound
            } else {
                ranges.append(piece.range)
            }
        }
        return ranges
    }

    struct Piece: Equatable {
        var range: Range<Instant>
        var offset: Instant
    }

    /// The same, cut where the offset changes.
    func pieces(ofLocal local: Range<Instant>) -> [Piece] {
        var pieces: [Piece] = []
        // No offset is beyond a day; a stretch that begins later can't show the range any more.
        let margin = 86_400 * Instant.second
        var index = index(of: local.lowerBound - margin)
        while index < starts.count, starts[index] < local.upperBound + margin {
            let start = max(starts[index], local.lowerBound - offsets[index])
            let end = min(end(of: index), local.upperBound - offsets[index])
            if start < end { pieces.append(Piece(range: start..<end, offset: offsets[index])) }
            index += 1
        }
        return pieces
    }
}

/// The offsets of one zone from 1900 to 2100, read from the zone database once a process.
final class ZoneOffsets: Sendable {
    let starts: [Instant]
    let offsets: [Instant]

    private init(zone: TimeZone) {
        var date = Date(timeIntervalSince1970: -2_208_988_800)
        let last = Date(timeIntervalSince1970: 4_102_444_800)
        var starts: [Instant] = [OffsetTimeline.earliest]
        var offsets: [Instant] = [Instant(zone.secondsFromGMT(for: date)) * Instant.second]
        // In spite of its name it also finds changes that have nothing to do with summer.
        while let next = zone.nextDaylightSavingTimeTransition(after: date), next > date, next < last {
            date = next
            let offset = Instant(zone.secondsFromGMT(for: next)) * Instant.second
            guard offset != offsets.last else { continue }
            starts.append(Instant(next.timeIntervalSince1970.rounded()) * Instant.second)
            offsets.append(offset)
        }
        self.starts = starts
        self.offsets = offsets
    }

    /// Microseconds east of Greenwich at an instant.
    func offset(at instant: Instant) -> Instant {
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= instant { low = middle } else { high = middle }
        }
        return offsets[low]
    }

    /// Greenwich for a name that the zone database doesn't know: `ZoneTimeline` has refused it before.
    static func of(_ name: String) -> ZoneOffsets {
        cache.lock.withLock {
            if let known = cache.zones[name] { return known }
            let made = ZoneOffsets(zone: TimeZone(identifier: name) ?? .gmt)
            cache.zones[name] = made
            return made
        }
    }

    /// `@unchecked`: `zones` is only read and written under the lock.
    private final class Cache: @unchecked Sendable {
        let lock = NSLock()
        var zones: [String: ZoneOffsets] = [:]
    }

    private static let cache = Cache()
}
