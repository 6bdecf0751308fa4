import HealthModel

/// A made-up sample.
struct TestRow: Sendable, Equatable {
    var type: String
    var start: Instant
    var end: Instant
    /// NaN for none.
    var value: Double
    /// Which of `TestRow.sources`.
    var source = 0
    var byHand = false

    /// The sources: a watch, a phone, and one whose name breaks any code that doesn't quote it.
    static let sources = [
        Origin(sourceName: "Test Watch", sourceVersion: "11.3", productType: "Watch7,1", device: "name:Apple Watch"),
        Origin(sourceName: "Test iPhone", sourceVersion: "18.3", productType: "iPhone15,2", device: "name:iPhone"),
        Origin(sourceName: "Anna’s \"Ω\" <Scale> & \\more", sourceVersion: "1"),
    ]
}

/// Samples of the types that a plugin handles.
struct TestRows {
    /// The types, sorted by identifier.
    let types: [HealthType]
    static let zone = "Europe/Berlin"
    let zones: ZoneTimeline

    /// - Parameter types: as in the manifest; ["*"] stands for one type of each kind.
    init(types names: [String]) throws {
        let any = [
            "HKQuantityTypeIdentifierStepCount", "HKQuantityTypeIdentifierHeartRate",
            "HKCategoryTypeIdentifierMindfulSession",
        ]
        types = Set(names.contains("*") || names.isEmpty ? any : names).sorted().map { HealthType.named($0) }
        zones = try ZoneTimeline(zone: Self.zone)
    }

    /// The value of an ordinary sample of this type and duration.
    static func value(of type: HealthType, seconds: Double, number: Int) -> Double {
        guard type.kind == .quantity else { return type.kind == .category ? Double(number % 2) : .nan }
        let limit = PlausibilityLimit.of(type)
        let (low, high) = (max(0, limit.values.lowerBound), min(limit.values.upperBound, 400))
        let share = Double(1 + number % 7) / 8
        // The rate must also stay below its limit, for any duration.
        return min(low + (high - low) * share / 4, limit.perSecond * max(60, seconds) / 2)
    }

    /// Ordinary samples: `perHour` of each type in each local hour, from two sources whose times overlap.
    func ordinary(_ day: LocalDay, perHour: Int = 1) -> [TestRow] {
        var rows: [TestRow] = []
        for (index, hour) in zones.hours(of: day).enumerated() {
            for type in types {
                for place in 0..<perHour {
                    let step = (hour.upperBound - hour.lowerBound).microseconds / Int64(perHour)
                    let start = hour.lowerBound + .microseconds(Int64(place) * step)
                    let end = start + .seconds(step / 2 / Instant.microsecondsPerSecond)
                    let number = index + place
                    rows.append(row(type, start, end, number: number, source: 0))
                    if number % 3 == 0 {
                        rows.append(row(type, start, start + (end - start) * 2, number: number + 1, source: 1))
                    }
                }
            }
        }
        return rows
    }

    /// What else a day may contain: samples without a duration or with one of several days, at the edges of the day,
    /// with tiny values, entered by hand, with names that need quoting, or sent twice.
    func odd(_ day: LocalDay) -> [TestRow] {
        guard let window = zones.ranges(of: day).first else { return [] }
        let (first, last) = (window.lowerBound, window.upperBound)
        let hour = Duration.seconds(3600)
        var rows: [TestRow] = []
        for type in types {
            let times: [(Instant, Instant)] = [
                (first, first), (first - hour, first + hour), (last - hour, last + hour),
                (first - hour * 30, last + hour),
                (first + hour, first + hour), (last - .seconds(1), last - .seconds(1)),
                (first + hour * 2, first + hour * 3),
                (first + hour * 2, first + hour * 3),
            ]
            for (index, (start, end)) in times.enumerated() {
                var row = row(type, start, end, number: index, source: index % 3)
                row.byHand = index % 4 == 3
                rows.append(row)
            }
            let limit = PlausibilityLimit.of(type)
            guard type.kind == .quantity else { continue }
            let low = limit.values.lowerBound.isFinite ? limit.values.lowerBound : -40
            for (index, value) in [low, max(low, 1e-9), max(low, 0.1 + 0.2)].enumerated() {
                let start = first + hour * (5 + index)
                rows.append(
                    TestRow(type: type.identifier, start: start, end: start + hour / 2, value: value, source: 2))
            }
        }
        return rows
    }

    /// The given number of samples of the first type, all in one day.
    func many(_ count: Int, on day: LocalDay) -> [TestRow] {
        guard let type = types.first, let window = zones.ranges(of: day).first else { return [] }
        let seconds = (window.upperBound - window.lowerBound).components.seconds
        return (0..<count).map { index in
            let start = window.lowerBound + .seconds(Int64(index) * seconds / Int64(count))
            return row(type, start, start + .seconds(1), number: index, source: index % 2)
        }
    }

    private func row(_ type: HealthType, _ start: Instant, _ end: Instant, number: Int, source: Int) -> TestRow {
        TestRow(
            type: type.identifier, start: start, end: end,
            value: Self.value(of: type, seconds: Double((end - start).microseconds) / 1e6, number: number),
            source: source)
    }
}

extension SamplePage {
    /// The rows in canonical order: by start, then by id.
    /// - Parameter detailed: the types whose metadata is included too.
    init(_ rows: [TestRow], detailed: Set<String>) {
        self.init()
        let rows = rows.sorted { ($0.start, $0.end, $0.type) < ($1.start, $1.end, $1.type) }
        types = Set(rows.map(\.type)).sorted()
        let places = Dictionary(uniqueKeysWithValues: types.enumerated().map { ($1, Int32($0)) })
        origins = TestRow.sources
        for (index, row) in rows.enumerated() {
            ids.append(SampleID(high: 1, low: UInt64(index)))
            sequence.append(Int64(index + 1))
            type.append(places[row.type] ?? 0)
            start.append(row.start.microseconds)
            end.append(row.end.microseconds)
            value.append(row.value)
            origin.append(Int32(row.source))
            flags.append(row.byHand ? [.userEntered] : [])
            guard !detailed.isEmpty else { continue }
            let isDetailed = detailed.contains(row.type)
            created.append(isDetailed ? row.end.flooredSecond : 0)
            healthKitUUID.append(nil)
            if isDetailed { metadata.append("{}") } else { metadata.appendEmpty() }
            if isDetailed { payload.append("{}") } else { payload.appendEmpty() }
        }
    }
}
