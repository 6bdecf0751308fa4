import Client
import Configuration
import HealthModel
import Inspection

/// One day in full: its summary, its hours, and Apple's own rings.
package struct DayReport {
    package let value: Value

    /// - Throws: any error from querying the consolidator or the observer.
    package init(_ stack: Stack, _ reader: StackReader, user: String, day: LocalDay) throws {
        let report = try DaysReport(
            reader, consolidator: try stack.instance(.consolidator), user: user, range: DateRange(from: day, to: day))
        var summary = report.days.first?.object
        let hours = summary?.removeValue(forKey: "hours") ?? .null
        var apple = Value.null
        try ObserverQueries(stack, reader).summaries(user: user, from: day, to: day) { _, figures in apple = figures }
        value = [
            "date": .string(day.description), "summary": summary.map { .object($0) } ?? .null, "hours": hours,
            "apple": apple,
        ]
    }
}

extension Stack {
    /// All users with stored data, and their zones.
    package func people(_ reader: StackReader) throws -> [String: ZoneTimeline] {
        try ObserverQueries(self, reader).timelines()
    }
}
