import HealthModel

/// When a sample was, as its row says it in few bytes: own ids begin with the start in milliseconds, and most samples last whole
/// seconds.
///
/// `shift` is the start in microseconds since 1970, counted from the time in the first 48 bits of a UUID: 0 as a rule, whatever
/// else for ids that others made. Of an id that is text it is the start itself. `duration` is in seconds where it is whole, else in
/// microseconds, negative.
struct StoredTimes {
    var shift: Int64
    var duration: Int64

    /// - Parameters:
    ///   - start: microseconds since 1970, of the years 0 to 9999 as all times that are taken.
    ///   - end: likewise, and not before `start`.
    init(start: Int64, end: Int64, id: ElementID) {
        shift = start - id.time
        let (seconds, rest) = (end - start).quotientAndRemainder(dividingBy: Instant.microsecondsPerSecond)
        duration = rest == 0 ? seconds : start - end
    }

    init(shift: Int64, duration: Int64) { (self.shift, self.duration) = (shift, duration) }

    /// Samples that last longer are looked for apart.
    static let longest = Instant.microsecondsPerSecond * 3600

    /// Whether a range of ids tells when it was: its id begins with the start, to the second, and it isn't long.
    func areTold(by id: ElementID) -> Bool {
        guard case .uuid = id, (0..<Instant.microsecondsPerSecond).contains(shift) else { return false }
        return duration < 0 ? duration >= -Self.longest : duration <= Self.longest / Instant.microsecondsPerSecond
    }

    /// Start and end, in microseconds since 1970.
    ///
    /// What somebody else wrote into the file may be anything: it gives some time, and no overflow.
    func times(id: ElementID) -> (start: Int64, end: Int64) {
        let start = shift &+ id.time
        return (start, duration < 0 ? start &- duration : start &+ duration &* Instant.microsecondsPerSecond)
    }
}

extension ElementID {
    /// The milliseconds in a UUID's first 48 bits, as microseconds; 0 for a text.
    fileprivate var time: Int64 {
        guard case .uuid(let id) = self else { return 0 }
        return Int64(id.high >> 16) * 1000
    }

    /// An id as its column holds it.
    init(column: UnsafeRawBufferPointer, isUUID: Bool) {
        guard isUUID, column.count == 16 else {
            self = .text(String(decoding: column, as: UTF8.self))
            return
        }
        self = .uuid(
            SampleID(
                high: UInt64(bigEndian: column.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                low: UInt64(bigEndian: column.loadUnaligned(fromByteOffset: 8, as: UInt64.self))))
    }
}
