import HealthModel
import HealthStatistics
import JSON

/// Collects a workout's data into the same payload that imports write, in m, kcal, s and UTC.
///
/// `activity`, `durationSeconds`, `totalDistanceMeters`, `totalEnergyKilocalories` (active energy),
/// `totalSwimmingStrokeCount`, `totalFlightsClimbed`, `statistics` by type, `routeSummary` for the route, `leftOut` for
/// numbers that can't be true; also `name` as in the app, and every member not covered by these (weather, elevation,
/// the workout's series), unchanged. The route's raw points aren't kept, whereas imports store them beside the workout.
struct AutoExportWorkout {
    private var numbers: WorkoutNumbers
    private var statistics: [String: [String: Value]] = [:]
    private(set) var members: [String: Value] = [:]
    let span: ClosedRange<Instant>

    init(start: Instant, end: Instant) {
        numbers = WorkoutNumbers(start: start, end: end)
        span = start...max(start, end)
    }

    mutating func set(_ name: String, _ value: Value?) {
        if let value, !value.isNull { members[name] = value }
    }

    /// A total stated by the workout, either `{qty, units}`, or a bare number in the type's unit.
    mutating func total(_ member: String, _ span: JSONSpan?, _ type: String, _ name: String) {
        guard let span, let (text, unit) = Self.quantity(span) else { return }
        set(member, numbers.total(text, unit, HealthType.named(type), name))
    }

    /// One of `sum`, `average`, `minimum`, `maximum` of a type's samples.
    mutating func statistic(_ type: String, _ name: String, _ text: String?, _ unit: String?) {
        let type = HealthType.named(type)
        // Beats have only one unit, whatever the app's versions call it.
        let unit = type.unit == "count/min" ? type.unit : unit
        guard let found = numbers.statistic(text, unit, type, name) else { return }
        statistics[type.identifier, default: [:]][name] = .number(found.value)
        statistics[type.identifier, default: [:]]["unit"] = .string(found.unit)
    }

    /// False if there is no number.
    @discardableResult
    mutating func statistic(_ type: String, _ name: String, _ span: JSONSpan?) -> Bool {
        guard let span, let (text, unit) = Self.quantity(span) else { return false }
        statistic(type, name, text, unit)
        return true
    }

    func has(_ type: String, _ name: String) -> Bool { statistics[type]?[name] != nil }

    /// The duration in seconds. Version 2 of the app's format uses seconds, but others that send this format often use
    /// minutes. If no unit is given, the number is taken as minutes if these fit between start and end.
    /// - Parameter known: the unit of a number without one, if it is known.
    mutating func duration(_ span: JSONSpan?, within length: Duration, in known: String? = nil) {
        guard let span, let (text, unit) = Self.quantity(span) else { return }
        let number = Double(text) ?? 0
        let isMinutes = number * 30 <= length.seconds && number * 60 <= length.seconds * 1.02
        set("durationSeconds", numbers.seconds(text, unit ?? known ?? (isMinutes ? "min" : "s"), "duration"))
    }

    mutating func route(_ array: JSONSpan) throws(JSONScanError) {
        guard array.kind == .array else { return }
        var summary = RouteSummary()
        var scanner = JSONScanner(array.bytes)
        var point = AutoExportItem()
        try scanner.beginArray()
        while try scanner.nextElement() {
            guard try point.read(scanner.value()), let time = point.take("timestamp", "date")?.date else { continue }
            func number(_ span: JSONSpan?) -> Double { span?.decimal ?? .nan }
            let latitude = number(point.take("latitude", "lat"))
            let longitude = number(point.take("longitude", "lon"))
            guard latitude.isFinite, longitude.isFinite else { continue }
            summary.add(
                time: time.instant, latitude: latitude, longitude: longitude, elevation: number(point.take("altitude")),
                horizontalAccuracy: number(point.take("horizontalAccuracy")),
                verticalAccuracy: number(point.take("verticalAccuracy")))
        }
        if summary.points > 0 { set("routeSummary", summary.value) }
    }

    /// The payload, including members that nothing has read.
    mutating func payload(_ rest: [String: Value]) -> [String: Value] {
        if !statistics.isEmpty {
            set(
                "statistics",
                .array(
                    statistics.sorted { $0.key < $1.key }.map { type, members in
                        .object(members.merging(["type": .string(type)]) { known, _ in known })
                    }))
        }
        if !numbers.leftOut.isEmpty { set("leftOut", .object(numbers.leftOut)) }
        return rest.merging(members) { _, own in own }
    }

    /// The number's text and its unit in HealthKit's form, from `{qty, units}` or a bare number.
    private static func quantity(_ span: JSONSpan) -> (text: String, unit: String?)? {
        if let text = span.numberText { return (String(decoding: text, as: UTF8.self), nil) }
        guard span.kind == .object else { return nil }
        var item = AutoExportItem()
        do throws(JSONScanError) {
            _ = try item.read(span)
        } catch { return nil }
        guard let text = item.take("qty")?.numberText else { return nil }
        let unit = item.take("units", "unit")?.text.map(AutoExportUnits.healthKit)
        return (String(decoding: text, as: UTF8.self), unit)
    }
}
