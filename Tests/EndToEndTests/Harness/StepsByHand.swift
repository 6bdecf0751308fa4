import Foundation
import HealthModel

/// The steps of a day, counted second by second from the text of an export: slowly, simply, and without using the
/// product's own code for reading or merging.
struct StepsByHand {
    private struct Sample {
        var start: Int
        var end: Int
        var value: Double
        /// Rank 0 comes first: manual entries, then watches, then phones.
        var rank: Int
    }

    private var samples: [Sample] = []

    init(export: [UInt8]) throws {
        let reading = DateFormatter()
        reading.locale = Locale(identifier: "en_US_POSIX")
        reading.dateFormat = "yyyy-MM-dd HH:mm:ss Z"
        let text = String(decoding: export, as: UTF8.self)
        var isOpen = false
        for line in text.split(separator: "\n") {
            if isOpen, line.contains("key=\"HKWasUserEntered\" value=\"1\"") { samples[samples.count - 1].rank = 0 }
            if line.contains("</Record>") { isOpen = false }
            guard line.contains("<Record type=\"HKQuantityTypeIdentifierStepCount\"") else { continue }
            isOpen = !line.contains("/>")
            func attribute(_ name: String) throws -> String {
                let parts = line.components(separatedBy: " \(name)=\"")
                guard parts.count == 2,
                    let value = parts[1].split(separator: "\"", omittingEmptySubsequences: false).first
                else { throw HarnessError("no \(name) in a record") }
                return String(value)
            }
            let source = try attribute("sourceName")
            guard let start = reading.date(from: try attribute("startDate")),
                let end = reading.date(from: try attribute("endDate")), let value = Double(try attribute("value"))
            else { throw HarnessError("a record of steps can't be read") }
            samples.append(
                Sample(
                    start: Int(start.timeIntervalSince1970), end: Int(end.timeIntervalSince1970), value: value,
                    rank: source.contains("Watch") ? 1 : source.contains("iPhone") ? 2 : 3))
        }
    }

    var count: Int { samples.count }

    /// The steps of each hour that begins on a date in a time zone; the day on which the clocks go forward has 23
    /// hours.
    func hours(of date: String, zone: String) throws -> [Double] {
        let reading = DateFormatter()
        reading.locale = Locale(identifier: "en_US_POSIX")
        reading.timeZone = TimeZone(identifier: zone)
        reading.dateFormat = "yyyy-MM-dd"
        guard let midnight = reading.date(from: date) else { throw HarnessError("no day \(date)") }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = reading.timeZone
        guard let next = calendar.date(byAdding: .day, value: 1, to: midnight) else {
            throw HarnessError("no next day")
        }
        let from = Int(midnight.timeIntervalSince1970)
        let seconds = Int(next.timeIntervalSince1970) - from
        // For each second, which source counts and how many steps it adds.
        var rank = [Int](repeating: .max, count: seconds)
        for sample in samples {
            for second in max(0, sample.start - from)..<max(0, min(seconds, sample.end - from), sample.start - from) {
                rank[second] = min(rank[second], sample.rank)
            }
        }
        var hours = [Double](repeating: 0, count: seconds / 3600)
        for sample in samples {
            if sample.start == sample.end {
                let second = sample.start - from
                if (0..<seconds).contains(second), sample.rank <= rank[second] { hours[second / 3600] += sample.value }
                continue
            }
            let each = sample.value / Double(sample.end - sample.start)
            for second in max(0, sample.start - from)..<max(0, min(seconds, sample.end - from), sample.start - from)
            where rank[second] == sample.rank { hours[second / 3600] += each }
        }
        return hours
    }
}
