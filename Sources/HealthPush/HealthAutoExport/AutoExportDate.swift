import HealthModel

/// A date as the app writes it, with the wall clock that it was read from.
///
/// `2024-02-06 14:30:00 -0800`, and where the phone shows 12 hours `2024-02-06 2:30:00 PM -0800` or `2:30:00 pm`, with a space of
/// any kind in front (U+202F since iOS 17); ISO 8601 too. A date without an offset isn't read: nobody can say when that is.
struct AutoExportDate: Equatable {
    let instant: Instant
    /// Seconds east of Greenwich, as printed.
    let offset: Int64

    private init(instant: Instant, offset: Int64) {
        self.instant = instant
        self.offset = offset
    }

    /// Nil for anything else.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        var reader = Reader(bytes: text)
        guard let date = reader.date() else { return nil }
        self = date
    }

    /// Microseconds since 1970-01-01 of a clock on the wall.
    private var wall: Int64 { instant.microseconds + offset * Instant.microsecondsPerSecond }

    /// The local date, as days since 1970.
    var day: LocalDay { LocalDay(number: Int((wall - inDay) / Self.dayLength)) }

    /// Microseconds since the local midnight.
    var inDay: Int64 {
        let rest = wall % Self.dayLength
        return rest < 0 ? rest + Self.dayLength : rest
    }

    /// When a local date begins, with this date's offset.
    func midnight(of day: LocalDay) -> Instant {
        Instant(microseconds: Int64(day.number) * Self.dayLength - offset * Instant.microsecondsPerSecond)
    }

    static let dayLength = 86_400 * Instant.microsecondsPerSecond

    private struct Reader {
        let bytes: UnsafeBufferPointer<UInt8>
        var position = 0

        mutating func date() -> AutoExportDate? {
            guard let year = number(4...4), skip("-"), let month = number(1...2), (1...12).contains(month), skip("-"),
                let day = number(1...2)
            else { return nil }
            let date = LocalDay(year: year, month: month, day: day)
            guard LocalDay(number: date.number) == date else { return nil }
            guard skip("T") || skip("t") || skipSpaces() else { return nil }
            guard var hour = number(1...2), skip(":"), let minute = number(2...2), minute < 60 else { return nil }
            var second = 0
            var fraction: Int64 = 0
            if skip(":") {
                guard let seconds = number(2...2), seconds <= 60, let parts = self.fraction() else { return nil }
                second = seconds
                fraction = parts
            }
            _ = skipSpaces()
            if let isAfternoon = half() {
                guard (1...12).contains(hour) else { return nil }
                hour = hour % 12 + (isAfternoon ? 12 : 0)
            } else if hour > 23 {
                return nil
            }
            _ = skipSpaces()
            guard let offset = offset(), position == bytes.count else { return nil }
            let seconds = Int64(date.number) * 86_400 + Int64(hour * 3600 + minute * 60 + second) - offset
            return AutoExportDate(
                instant: Instant(microseconds: seconds * Instant.microsecondsPerSecond + fraction), offset: offset)
        }

        /// Whether it is after noon, where the date says so: `AM`, `pm`, `a. m.`
        private mutating func half() -> Bool? {
            guard let byte = peek() else { return nil }
            let letter = byte | 0x20
            guard letter == UInt8(ascii: "a") || letter == UInt8(ascii: "p") else { return nil }
            let begin = position
            position += 1
            _ = skip(".")
            _ = skipSpaces()
            guard skip("m") || skip("M") else {
                position = begin
                return nil
            }
            _ = skip(".")
            return letter == UInt8(ascii: "p")
        }

        /// Microseconds; nil when a point has no digit behind it.
        private mutating func fraction() -> Int64? {
            guard skip(".") || skip(",") else { return 0 }
            var micros: Int64 = 0
            var digits = 0
            while let byte = peek(), byte &- 0x30 < 10 {
                if digits < 6 { micros = micros * 10 + Int64(byte &- 0x30) }
                digits += 1
                position += 1
            }
            guard digits > 0 else { return nil }
            for _ in min(digits, 6)..<6 { micros *= 10 }
            return micros
        }

        private mutating func offset() -> Int64? {
            if skip("Z") || skip("z") { return 0 }
            let isWest = skip("-")
            guard isWest || skip("+"), let hours = number(2...2), hours <= 18 else { return nil }
            var minutes = 0
            if position < bytes.count {
                _ = skip(":")
                guard let number = number(2...2), number < 60 else { return nil }
                minutes = number
            }
            let seconds = Int64(hours * 3600 + minutes * 60)
            return isWest ? -seconds : seconds
        }

        /// A number of so many digits, as many as there are.
        private mutating func number(_ width: ClosedRange<Int>) -> Int? {
            var result = 0
            var digits = 0
            while digits < width.upperBound, let byte = peek(), byte &- 0x30 < 10 {
                result = result * 10 + Int(byte &- 0x30)
                digits += 1
                position += 1
            }
            return digits >= width.lowerBound ? result : nil
        }

        /// Spaces, also those that don't break: U+00A0 and U+202F.
        private mutating func skipSpaces() -> Bool {
            let begin = position
            while let byte = peek() {
                if byte == 0x20 {
                    position += 1
                } else if byte == 0xC2, starts(with: 0xC2, 0xA0) {
                    position += 2
                } else if byte == 0xE2, starts(with: 0xE2, 0x80, 0xAF) {
                    position += 3
                } else {
                    break
                }
            }
            return position > begin
        }

        private func starts(with expected: UInt8...) -> Bool {
            bytes.count - position >= expected.count && bytes[position...].starts(with: expected)
        }

        private mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard peek() == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }
    }
}
