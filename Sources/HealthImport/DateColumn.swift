import HealthModel

/// Reads the dates of one attribute, most of which have the same day and offset as the previous one.
struct DateColumn {
    /// `2025-03-30 08:15:00 +0200`
    private static let length = 25
    private var day: UInt64 = 0
    private var dayEnd: UInt16 = 0
    private var offset: UInt64 = 0
    /// Midnight of that day at that offset, microseconds since 1970.
    private var midnight: Int64 = 0

    /// Nil for anything that isn't a date.
    mutating func parse(_ text: UnsafeBufferPointer<UInt8>) -> Instant? {
        guard text.count == Self.length else { return InstantText.parse(text) }
        let raw = UnsafeRawBufferPointer(text)
        let day = raw.loadUnaligned(as: UInt64.self)
        let dayEnd = raw.loadUnaligned(fromByteOffset: 8, as: UInt16.self)
        // Cuts off the digits of the seconds, leaving the offset and the space before it.
        let offset = raw.loadUnaligned(fromByteOffset: 17, as: UInt64.self) & Self.offsetMask
        if day == self.day, dayEnd == self.dayEnd, offset == self.offset, let second = Self.secondOfDay(raw) {
            return Instant(microseconds: midnight + Int64(second) * Instant.microsecondsPerSecond)
        }
        guard let instant = InstantText.parse(text), let second = Self.secondOfDay(raw) else {
            return InstantText.parse(text)
        }
        (self.day, self.dayEnd, self.offset) = (day, dayEnd, offset)
        midnight = instant.microseconds - Int64(second) * Instant.microsecondsPerSecond
        return instant
    }

    /// Bytes 19 to 24 of the text, taken from the eight bytes that begin at 17.
    private static let offsetMask = UInt64(0xFFFF_FFFF_FFFF_0000).littleEndian

    /// The time of day from text such as ` 08:15:00`; nil for any other form.
    private static func secondOfDay(_ raw: UnsafeRawBufferPointer) -> Int? {
        guard raw[10] == UInt8(ascii: " "), raw[13] == UInt8(ascii: ":"), raw[16] == UInt8(ascii: ":"),
            let hour = two(raw, 11), hour < 24, let minute = two(raw, 14), minute < 60, let second = two(raw, 17),
            second < 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private static func two(_ raw: UnsafeRawBufferPointer, _ position: Int) -> Int? {
        let tens = raw[position] &- UInt8(ascii: "0")
        let ones = raw[position + 1] &- UInt8(ascii: "0")
        return tens < 10 && ones < 10 ? Int(tens) * 10 + Int(ones) : nil
    }
}
