import Glibc
import HealthModel

/// Reads `HKTimeZone` from metadata without reading the rest.
struct ZoneSightings {
    // Written as a member: inside a value the quotes would be escaped.
    private static let needle = Array("\"HKTimeZone\"".utf8)
    private static let rare = Int32(UInt8(ascii: "Z"))
    private static let rarePlace = 7
    /// Names looked up before, since looking one up reads a file.
    private var places: [String: Bool] = [:]
    private static let placeLimit = 1000

    /// What a batch's records say about zones, each once. Fixed offsets, unknown names and those without an area
    /// (`CET`) are ignored.
    mutating func observations(in batch: RecordBatch) -> Set<ZoneObservation> {
        var found: Set<ZoneObservation> = []
        guard batch.metadata.count == batch.count else { return found }
        var ranks = [Int?](repeating: nil, count: batch.origins.count)
        batch.metadata.bytes.withUnsafeBytes { bytes in
            var row = 0
            var position = 0
            while let name = Self.next(in: bytes, from: &position) {
                while Int(batch.metadata.ends[row]) < position { row += 1 }
                // Some programs escape slashes.
                let zone = String(decoding: bytes[name], as: UTF8.self).replacing("\\/", with: "/")
                guard isPlace(zone), SampleTimes.mayStart(batch.startOf(row)) else { continue }
                let origin = Int(batch.origin[row])
                let rank = ranks[origin] ?? SourceRank.rank(origin: batch.origins[origin], userEntered: false)
                ranks[origin] = rank
                found.insert(.init(hour: ZoneObservation.hour(of: batch.startOf(row)), zone: zone, rank: rank))
            }
        }
        return found
    }

    /// The next member's value; the position moves past it. Looks for the key's rarest letter first, which costs next
    /// to nothing.
    private static func next(in bytes: UnsafeRawBufferPointer, from position: inout Int) -> Range<Int>? {
        guard let base = bytes.baseAddress else { return nil }
        while position < bytes.count, let hit = memchr(base + position, rare, bytes.count - position) {
            let place = base.distance(to: UnsafeRawPointer(hit))
            position = place + 1
            let name = place - rarePlace + needle.count
            guard place >= rarePlace, name <= bytes.count,
                memcmp(base + (place - rarePlace), needle, needle.count) == 0,
                let begin = text(in: bytes, after: name)
            else { continue }
            guard let quote = memchr(base + begin, 0x22, bytes.count - begin) else { return nil }
            let end = base.distance(to: UnsafeRawPointer(quote))
            position = end + 1
            return begin..<end
        }
        return nil
    }

    /// Where the value of a member begins, if it is a string. Programs may write spaces around the colon.
    private static func text(in bytes: UnsafeRawBufferPointer, after name: Int) -> Int? {
        func skipSpaces(from place: Int) -> Int {
            var place = place
            while place < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { place += 1 }
            return place
        }
        let colon = skipSpaces(from: name)
        guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { return nil }
        let quote = skipSpaces(from: colon + 1)
        return quote < bytes.count && bytes[quote] == UInt8(ascii: "\"") ? quote + 1 : nil
    }

    private mutating func isPlace(_ zone: String) -> Bool {
        if let known = places[zone] { return known }
        if places.count >= Self.placeLimit { places = [:] }
        let isPlace = ZoneName.isPlace(zone)
        places[zone] = isPlace
        return isPlace
    }
}
