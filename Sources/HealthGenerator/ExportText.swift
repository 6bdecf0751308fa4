import HealthModel

/// Writes an entry's text. Bytes are passed on in large pieces; numbers and dates have the form that exports use.
struct ExportText {
    private static let pieceSize = 256 * 1024

    private var bytes: [UInt8] = []
    private let zip: ZipWriter
    /// The offset of all dates in the file, in seconds east of Greenwich.
    private let offset: Int64
    private let offsetText: [UInt8]
    private var dateNumber = Int64.min
    private var dateText: [UInt8] = []
    private var failure: (any Error)?
    /// Bytes passed on so far.
    private(set) var total = 0
    /// `Record` elements begun so far.
    var records = 0

    init(zip: ZipWriter, offset: Int) {
        self.zip = zip
        self.offset = Int64(offset)
        let minutes = abs(offset) / 60
        let digits = [minutes / 600, minutes / 60 % 10, minutes % 60 / 10, minutes % 10].map {
            UInt8($0) + UInt8(ascii: "0")
        }
        offsetText = [UInt8(ascii: " "), UInt8(ascii: offset < 0 ? "-" : "+")] + digits
        bytes.reserveCapacity(Self.pieceSize + 16_384)
    }

    mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(_ text: [UInt8]) { bytes.append(contentsOf: text) }

    mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func append(integer: Int) {
        if integer < 0 { bytes.append(UInt8(ascii: "-")) }
        var divisor: UInt = 1
        let magnitude = integer.magnitude
        while magnitude / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(magnitude / divisor % 10))
            divisor /= 10
        }
    }

    /// Writes six significant digits, as the Health app does for quantities.
    mutating func append(number: Double) {
        guard number != 0 else { return bytes.append(UInt8(ascii: "0")) }
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        var (digits, point) = Self.sixDigits(abs(number))
        var places = 6
        while places > 1, digits % 10 == 0 {
            digits /= 10
            places -= 1
        }
        if point <= 0 {
            append("0.")
            for _ in point..<0 { bytes.append(UInt8(ascii: "0")) }
            return append(integer: digits)
        }
        while places < point {
            digits *= 10
            places += 1
        }
        var divisor = Self.powers[places - point]
        append(integer: digits / divisor)
        let rest = digits % divisor
        guard divisor > 1 else { return }
        bytes.append(UInt8(ascii: "."))
        while divisor > 1 {
            divisor /= 10
            bytes.append(UInt8(ascii: "0") + UInt8(rest / divisor % 10))
        }
    }

    /// The number as 0.dddddd × 10^point.
    private static func sixDigits(_ number: Double) -> (digits: Int, point: Int) {
        var point = 6
        var scaled = number
        while scaled >= 999_999.5 {
            scaled /= 10
            point += 1
        }
        while scaled < 99_999.95 {
            scaled *= 10
            point -= 1
        }
        return (Int(scaled.rounded()), point)
    }

    private static let powers = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]

    /// `2025-03-30 08:15:00 +0200`, from seconds since 1970.
    mutating func append(date second: Int64) {
        let local = second + offset
        let number = local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
        if number != dateNumber {
            dateNumber = number
            dateText = Array(LocalDay(number: Int(number)).description.utf8) + [UInt8(ascii: " ")]
        }
        bytes.append(contentsOf: dateText)
        let inDay = Int(local - number * 86_400)
        appendTwo(inDay / 3600)
        bytes.append(UInt8(ascii: ":"))
        appendTwo(inDay / 60 % 60)
        bytes.append(UInt8(ascii: ":"))
        appendTwo(inDay % 60)
        bytes.append(contentsOf: offsetText)
    }

    /// ` creationDate="…" startDate="…" endDate="…"`, from seconds since 1970.
    mutating func append(stored: Int64, from start: Int64, to end: Int64) {
        append(" creationDate=\"")
        append(date: stored)
        append("\"")
        append(from: start, to: end)
    }

    /// ` startDate="…" endDate="…"`, from seconds since 1970.
    mutating func append(from start: Int64, to end: Int64) {
        append(" startDate=\"")
        append(date: start)
        append("\" endDate=\"")
        append(date: end)
        append("\"")
    }

    mutating func appendTwo(_ number: Int) {
        bytes.append(UInt8(ascii: "0") + UInt8(number / 10 % 10))
        bytes.append(UInt8(ascii: "0") + UInt8(number % 10))
    }

    /// Passes on the collected bytes if there are many. If this fails, the next `flush` throws the error; anything
    /// appended after it is discarded.
    mutating func flushIfLarge() {
        guard bytes.count >= Self.pieceSize else { return }
        do { try handOn() } catch { failure = error }
    }

    mutating func flush() throws {
        if let failure { throw failure }
        try handOn()
    }

    private mutating func handOn() throws {
        defer { bytes.removeAll(keepingCapacity: true) }
        guard failure == nil else { return }
        try zip.write(bytes)
        total += bytes.count
    }
}
