import HealthModel
import JSON

extension AutoExportReader {
    /// No part of a night may be longer than this, because the app has sent durations longer than a lifetime.
    private static let longestNight = Duration.seconds(7 * 86_400)

    /// Reads a stage (`{startDate, endDate, value}`), or a night with its hours.
    mutating func readSleep(_ series: AutoExportSeries) throws(SampleProblem) {
        if let value = item.take("value") { return try readStage(value) }
        return try readNight(series)
    }

    private mutating func readStage(_ value: JSONSpan) throws(SampleProblem) {
        guard let raw = Self.stage(value) else { throw SampleProblem(reason: Self.unknownValue) }
        let start = try AutoExportSpan.date(item.take("startDate", "start"), "start")
        let end = try AutoExportSpan.date(item.take("endDate", "end"), "end")
        guard let start, let end else { throw SampleProblem(reason: "there is no start, or no end") }
        // Discards the duration and a repetition of the start.
        _ = item.take("qty")
        _ = item.take("date")
        var row = row(HealthType.sleepIdentifier, start.instant, end.instant)
        row.value = Double(raw)
        describe(&row)
        try rows.append(row)
    }

    private static func stage(_ value: JSONSpan) -> Int? {
        raw(value, type: HealthType.sleepIdentifier) ?? stage(named: value.text ?? "")
    }

    /// A stage by a name that people see, besides HealthKit's.
    static func stage(named text: String) -> Int? {
        switch AutoExportMetric.key(text) {
        case "unspecified", "asleepunspecified": return 1
        case "core", "light", "asleepcore": return 3
        case "deep", "asleepdeep": return 4
        case "rem", "asleeprem": return 5
        default: return nil
        }
    }

    /// Reads a night as one sleep statistic without a number, from falling asleep to waking up.
    ///
    /// Its payload gives times in seconds: `asleepSeconds` is all sleep and `unspecifiedSeconds` is sleep without a
    /// stage, followed by `coreSeconds`, `deepSeconds`, `remSeconds`, `awakeSeconds` and `inBedSeconds`; `inBedStart`
    /// and `inBedEnd` are in UTC. Values that the app doesn't send are missing. The app's `asleep` is all sleep when
    /// there are no stages, and only the sleep without a stage when there are any, so the sum is right in both cases.
    /// Hours that can't be true go into `leftOut`.
    private mutating func readNight(_ series: AutoExportSeries) throws(SampleProblem) {
        guard let length = AutoExportUnits.seconds(in: series.units.isEmpty ? "hr" : series.units) else {
            throw SampleProblem(reason: "the unit isn't one of time")
        }
        let asleepFrom = try AutoExportSpan.date(item.take("sleepStart"), "sleepStart")
        let asleepTo = try AutoExportSpan.date(item.take("sleepEnd"), "sleepEnd")
        let bedStart = try AutoExportSpan.date(item.take("inBedStart"), "inBedStart")
        let bedEnd = try AutoExportSpan.date(item.take("inBedEnd"), "inBedEnd")
        guard let start = asleepFrom ?? bedStart, let end = asleepTo ?? bedEnd else {
            throw SampleProblem(reason: "there is no start of the sleep, or no end")
        }
        var parts = NightParts(secondsEach: length)
        parts.add("unspecifiedSeconds", item.take("asleep"))
        parts.add("coreSeconds", item.take("core"))
        parts.add("deepSeconds", item.take("deep"))
        parts.add("remSeconds", item.take("rem"))
        let asleep = parts.sum
        parts.add("awakeSeconds", item.take("awake"))
        parts.add("inBedSeconds", item.take("inBed"))
        parts.add("asleepSeconds", item.take("totalSleep"))
        var payload = parts.payload
        if payload["asleepSeconds"] == nil, let asleep { payload["asleepSeconds"] = .number(asleep) }
        payload["inBedStart"] = bedStart.map { .string(InstantText.iso8601($0.instant)) }
        payload["inBedEnd"] = bedEnd.map { .string(InstantText.iso8601($0.instant)) }
        // This is the time of the night, or the time when it was recorded. It only repeats the start in another form,
        // so it is discarded.
        _ = item.take("date")
        if item.look("source") == nil, let source = item.take("sleepSource")?.text {
            payload["sleepSource"] = .string(source)
        }
        var row = row(HealthType.statistics(of: HealthType.sleepIdentifier), start.instant, end.instant)
        (row.created, row.statistic) = (now.flooredSecond, .night)
        describe(&row, payload: payload)
        if let source = payload["sleepSource"]?.string { row.origin = rows.originSlot(named: source) }
        try rows.append(row)
    }

    /// The times of a night's parts, in seconds, by name.
    private struct NightParts {
        let secondsEach: Double
        private(set) var payload: [String: Value] = [:]
        /// The sum of everything added so far; nil if nothing was added.
        private(set) var sum: Double?
        private(set) var leftOut: [String: Value] = [:]

        mutating func add(_ name: String, _ span: JSONSpan?) {
            guard let span else { return }
            // Rounded to the millisecond, because the app's hours don't give whole seconds even with all their digits.
            let seconds = span.decimal.map { ($0 * secondsEach * 1000).rounded() / 1000 }
            guard let seconds, seconds >= 0, seconds <= longestNight.seconds else {
                leftOut[name] = span.value
                payload["leftOut"] = .object(leftOut)
                return
            }
            payload[name] = .number(seconds)
            sum = (sum ?? 0) + seconds
        }
    }
}
