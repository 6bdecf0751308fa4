import HealthModel

/// Converts the times in a heart rate variability list into seconds after the start of their sample.
///
/// Exports print a beat's time of day in the phone's locale ("00:20:37,80", "6:14:48.94 PM") and in that day's zone,
/// while the sample's date has the export's single offset, so the two can differ by any number of quarter hours. So
/// only the position of the first beat's time within its quarter of an hour is used: the beat is placed at the first
/// such time at or after the start (with a minute of grace). The time of each further beat is counted from the previous
/// one, modulo 12 hours. So midnight, AM and PM make no difference, nor does daylight saving, unless the clocks change
/// between two beats.
struct BeatClock {
    private let startInQuarter: Double
    private var previous: (time: Double, seconds: Double)?

    init(start: Instant) {
        let quarter = 900 * Instant.microsecondsPerSecond
        let rest = start.microseconds % quarter
        startInQuarter = Double(rest < 0 ? rest + quarter : rest) / 1_000_000
    }

    /// Seconds after the start, to the millisecond; nil for a string that isn't a time.
    mutating func seconds(of text: UnsafeBufferPointer<UInt8>) -> Double? {
        guard let time = Self.timeOfDay(text) else { return nil }
        var seconds: Double
        if let previous {
            let step = (time - previous.time).truncatingRemainder(dividingBy: 43_200)
            // A time may be slightly before the previous one; if it is half a day before, noon or midnight has passed.
            seconds = previous.seconds + (step < -21_600 ? step + 43_200 : step > 21_600 ? step - 43_200 : step)
        } else {
            seconds = (time - startInQuarter).truncatingRemainder(dividingBy: 900)
            if seconds < -60 { seconds += 900 }
            if seconds >= 840 { seconds -= 900 }
        }
        seconds = (seconds * 1000).rounded() / 1000
        previous = (time, seconds)
        return seconds
    }

    /// Seconds from the first three numbers and a fraction, whatever separates them. Arabic, Persian and Devanagari
    /// digits work too.
    static func timeOfDay(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        var fields: [Double] = []
        var current: Double?
        var scale = 0.1
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            if let digit = LocaleNumber.digit(scalar).map({ Double($0) }) {
                if fields.count == 3 {
                    current = (current ?? 0) + digit * scale
                    scale /= 10
                } else {
                    current = (current ?? 0) * 10 + digit
                }
            } else if let number = current {
                fields.append(number)
                current = nil
                if fields.count == 4 { break }
            }
        }
        if let number = current { fields.append(number) }
        guard fields.count == 3 || fields.count == 4, fields[0] <= 24, fields[1] < 60, fields[2] < 61 else {
            return nil
        }
        return fields[0] * 3600 + fields[1] * 60 + fields[2] + (fields.count == 4 ? fields[3] : 0)
    }
}
