import HealthModel
import JSON

extension AutoExportReader {
    /// Reads a workout's activities, `[{name, start, end, activeDuration, metrics: {distance: {qty, units}, …}}]`, into
    /// the form that imports write. What isn't understood stays in each of them.
    /// - Parameter times: the workout's, for an activity without its own.
    /// - Returns: nil if there are none, or if they have another form.
    mutating func activities(of times: (start: Instant, end: Instant)) throws -> [Value]? {
        guard let list = item.look("activities"), list.kind == .array else { return nil }
        var parts: [Value] = []
        var scanner = JSONScanner(list.bytes)
        try scanner.beginArray()
        while try scanner.nextElement() {
            var part = AutoExportItem()
            guard try part.read(scanner.value()) else { return nil }
            parts.append(try Self.activity(&part, of: times))
        }
        _ = item.take("activities")
        return parts
    }

    private static func activity(_ part: inout AutoExportItem, of times: (start: Instant, end: Instant)) throws -> Value
    {
        let start = try AutoExportSpan.date(part.take("start", "startDate"), "start of an activity")
        let end = try AutoExportSpan.date(part.take("end", "endDate"), "end of an activity")
        var body = AutoExportWorkout(start: start?.instant ?? times.start, end: end?.instant ?? times.end)
        let names = [
            part.take("name"), part.take("activity", "activityType"), part.take("workoutActivityType", "type"),
        ]
        if let (name, activity) = AutoExportActivity.named(names) {
            body.set("name", .string(name))
            body.set("activity", .string(activity))
        }
        body.set("start", start.map { .string(InstantText.iso8601($0.instant)) })
        body.set("end", end.map { .string(InstantText.iso8601($0.instant)) })
        let duration = part.take("activeDuration", "duration")
        body.duration(duration, within: body.span.upperBound - body.span.lowerBound)
        try body.read(&part)
        var metrics = AutoExportItem()
        if let span = part.look("metrics"), try metrics.read(span) {
            try body.read(&metrics)
            metrics.takeEach { body.statistic(ofMetric: $0, $1) }
            let rest = metrics.rest
            _ = part.take("metrics")
            body.set("metrics", rest.isEmpty ? nil : .object(rest))
        }
        return .object(body.payload(part.rest))
    }
}
