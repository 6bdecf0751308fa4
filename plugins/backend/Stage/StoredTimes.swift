import HealthModel

/// A sample's times, stored in a few bytes: our own ids begin with the start in milliseconds, and most samples last
/// whole seconds.
///
/// `shift` is the start in microseconds since 1970, relative to the time in the first 48 bits of a UUID: usually 0, but
/// arbitrary for ids made by others. For a text id it is the start itself. `duration` is in seconds if it is whole,
/// otherwise in microseconds and negated.
struct StoredTimes {
    var shift: Int64
    var duration: Int64

    /// - Parameters:
    ///   - start: microseconds since 1970, within the years 0 to 9999 like all accepted times.
    ///   - end: in the same form, and not before `start`.
    init(start: Int64, end: Int64, id: ElementID) {
        shift = start - id.time
        let (seconds, rest) = (end - start).quotientAndRemainder(dividingBy: Instant.microsecondsPerSecond)
        duration = rest == 0 ? seconds : start - end
    }

    init(shift: Int64, duration: Int64) { (self.shift, self.duration) = (shift, duration) }

    /// Longer samples are searched for separately.
    static let longest = Instant.microsecondsPerSecond * 3600

    /// Whether a search by id range finds the sample: the id must begin with the start, to the second, and the sample
    /// must be short.
    func areImplied(by id: ElementID) -> Bool {
        guard case .uuid = id, (0..<Instant.microsecondsPerSecond).contains(shift) else { return false }
        return duration < 0 ? duration >= -Self.longest : duration <= Self.longest / Instant.microsecondsPerSecond
    }

    /// Start and end, in microseconds since 1970.
    ///
    /// Any value that another program may have written into the file yields some time, without overflow.
    func times(id: ElementID) -> (start: Int64, end: Int64) {
        let start = shift &+ id.time
        return (start, duration < 0 ? start &- duration : start &+ duration &* Instant.microsecondsPerSecond)
    }
}

extension ElementID {
    /// The milliseconds in a UUID's first 48 bits, as microseconds; 0 for a text id.
    fileprivate var time: Int64 {
        guard case .uuid(let id) = self else { return 0 }
        return Int64(id.high >> 16) * 1000
    }

    /// An id as stored in its column.
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
