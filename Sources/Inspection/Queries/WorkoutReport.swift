import Client
import Configuration
import HealthModel
import Logging
import Protocol

/// One workout in full: its form as delivered, its track, and the heart rate during it.
package struct WorkoutReport {
    package let value: Value

    /// The maximum number of heart rate points in a chart.
    private static let points = 2000
    private static let heartRate = "HKQuantityTypeIdentifierHeartRate"

    /// - Parameter id: the workout's full id.
    /// - Throws: `Failure` (usage) when there is no such workout.
    package init(_ stack: Stack, _ reader: StackReader, id: String, user: String) throws {
        var found: Value?
        for handler in stack.configuration.handlers
        where found == nil && handler.manifest.produces.contains(where: { $0.hasPrefix("events.") }) {
            try reader.forEachRow(handler, topic: "events.", days: Self.days(around: id)) { row in
                guard row.user == user, let event = row.body?.read(EventBody.self),
                    event.kind == EventRows.Kind.workout.rawValue, event.id == id
                else { return }
                found = event.event
            }
        }
        guard var members = found?.object else {
            throw Failure.usage("no workout has the id \(id)", hint: "'healthbus workouts' lists them")
        }
        let track = members["route"]?["track"] ?? .null
        if var route = members["route"]?.object {
            route["track"] = nil
            members["route"] = .object(route)
        }
        func moment(_ names: String...) -> Instant? {
            names.lazy.compactMap { members[$0]?.string.flatMap { InstantText.parse($0) } }.first
        }
        var rate = Value.null
        if let start = moment("start", "startDate"), let end = moment("end", "endDate"), end > start {
            rate = Self.rate(
                try ObserverQueries(stack, reader).samples(user: user, types: [Self.heartRate], from: start, to: end),
                from: start, to: end)
        }
        value = ["workout": .object(members), "track": track, "heartRate": rate]
    }

    /// Our ids all begin with the time in milliseconds, so only the days around it need to be read. nil for any other
    /// id.
    private static func days(around id: String) -> ClosedRange<Int>? {
        guard let milliseconds = Int64(id.filter { $0 != "-" }.prefix(12), radix: 16) else { return nil }
        let day = Int(milliseconds / 86_400_000)
        return (10_000...40_000).contains(day) ? (day - 2)...(day + 2) : nil
    }

    /// The heart rate in chronological order, averaged if there are more values than a chart can show; null if there
    /// are none.
    private static func rate(_ samples: SamplePage, from start: Instant, to end: Instant) -> Value {
        let measured = samples.ids.indices
            .filter { samples.value[$0].isFinite && samples.startOf($0) >= start && samples.startOf($0) < end }
            .map { (second: (samples.startOf($0) - start).seconds, value: samples.value[$0]) }
            .sorted { $0.second < $1.second }
        guard !measured.isEmpty else { return .null }
        let width = (measured.count + points - 1) / points
        let shown = stride(from: 0, to: measured.count, by: width).map { first in
            let part = measured[first..<min(first + width, measured.count)]
            return (
                second: part.map(\.second).reduce(0, +) / Double(part.count),
                value: part.map(\.value).reduce(0, +) / Double(part.count)
            )
        }
        func rounded(_ number: Double) -> Value { .number(number.rounded(decimals: 2)) }
        return [
            "start": .string(InstantText.iso8601(start)), "seconds": .array(shown.map { rounded($0.second) }),
            "values": .array(shown.map { rounded($0.value) }),
        ]
    }
}
