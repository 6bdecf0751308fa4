import Client
import Configuration
import HealthModel
import HealthStatistics
import Inspection
import Protocol

/// `healthbus check`: our figures compared with Apple's, gaps, late samples, and days that changed after they were
/// final.
///
/// Even for ten years it keeps only a few numbers per day, never the summaries themselves.
package struct CheckReport {
    package struct Options: Sendable {
        package var user: String
        package var from: LocalDay?
        package var to: LocalDay?
        package var tolerance: RingComparison.Tolerance

        package init(
            user: String, from: LocalDay? = nil, to: LocalDay? = nil, tolerance: RingComparison.Tolerance = .standard
        ) {
            (self.user, self.from, self.to, self.tolerance) = (user, from, to, tolerance)
        }

        func holds(_ date: LocalDay) -> Bool { from.map { date >= $0 } ?? true && to.map { date <= $0 } ?? true }
    }

    let options: Options
    let rings: RingComparison
    /// Days for which there is a summary from Apple.
    let summaries: Int
    let types: [TypeDays]
    /// Days that had already been final with different content, with the number of times each has been final.
    let revised: [(date: LocalDay, revision: Int64)]
    let quarantined: [(reason: String, count: Int64)]
    /// Documents by kind.
    let documents: [DocumentKind: Int]
    /// Workouts that their source wrote several times.
    let repeats: WorkoutRepeats.Tally
    let zones: ZoneTimeline
    /// Whether only the newest version of a repeated workout counts.
    let dropsRepeats: Bool
    /// Says that an import of this person's data is still under way, so that more is to come; nil if none is.
    package let remark: String?

    package init(_ stack: Stack, _ options: Options) throws {
        self.options = options
        let reader = stack.reader()
        let observer = try ObserverQueries(stack, reader)
        // Refuses an unknown user.
        let zones = try observer.zones(of: options.user)
        self.zones = zones

        var ours: [LocalDay: [String: Double]] = [:]
        var revised: [LocalDay: Int64] = [:]
        let consolidator = try stack.instance(.consolidator)
        try reader.forEachRow(consolidator, topic: "daily.summary") { row in
            guard row.user == options.user, let number = row.day else { return }
            let date = LocalDay(number: number)
            guard options.holds(date) else { return }
            ours[date] = row.body.map { RingComparison.ourFigures(of: $0) }
            let revision = row.body?.read(SummaryState.self)?.revision ?? 0
            revised[date] = revision > 1 ? revision : nil
        }
        self.revised = revised.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }

        var rings = RingComparison(tolerance: options.tolerance)
        let first = options.from ?? LocalDay(number: 0)
        let last = options.to ?? LocalDay(year: 9999, month: 12, day: 31)
        var apples: Set<LocalDay> = []
        if first <= last {
            try observer.summaries(user: options.user, from: first, to: last) { date, figures in
                apples.insert(date)
                rings.add(date, ours: ours[date] ?? [:], apples: figures)
            }
        }
        for (date, figures) in ours.sorted(by: { $0.key < $1.key }) where !apples.contains(date) {
            rings.add(date, ours: figures, apples: nil)
        }
        self.rings = rings
        summaries = apples.count

        types = try observer.completeness(user: options.user, nights: stack.configuration.nights).compactMap { type in
            var type = type
            type.days = type.days.clamped(from: options.from, to: options.to)
            return type.days.isEmpty ? nil : type
        }
        quarantined = try observer.quarantined(user: options.user)
        documents = Dictionary(try observer.documents(user: options.user).map { ($0.kind, 1) }, uniquingKeysWith: +)
        let hasWorkouts = types.contains { $0.type == HealthType.workoutIdentifier }
        repeats = hasWorkouts ? try Self.repeats(observer, zones, options) : WorkoutRepeats.Tally { _ in nil }
        remark = try NothingYet.remark(stack, reader, user: options.user)
        dropsRepeats = WorkoutsDay.dropsRepeats(
            stack.configuration.handler(of: HealthType.workoutIdentifier)?.configuration ?? .null)
    }

    private static func repeats(
        _ observer: ObserverQueries, _ zones: ZoneTimeline, _ options: Options
    ) throws -> WorkoutRepeats.Tally {
        var tally = WorkoutRepeats.Tally { start in
            let day = zones.day(of: start)
            return options.holds(day) ? day : nil
        }
        // In any zone, a date begins and ends within a day of when it begins and ends in UTC.
        func noon(_ date: LocalDay) -> Instant {
            Instant(seconds: Int64(date.number) * 86_400 + 43_200)
        }
        let from = options.from ?? LocalDay(year: 1, month: 1, day: 2)
        let to = options.to ?? LocalDay(year: 9999, month: 12, day: 30)
        try observer.forEachPage(
            user: options.user, types: [HealthType.workoutIdentifier], from: noon(from.adding(days: -2)),
            to: noon(to.adding(days: 2)), detailed: [HealthType.workoutIdentifier]
        ) { try tally.add($0) }
        try tally.finish()
        return tally
    }

    package var json: String {
        Value.object([
            "user": .string(options.user), "from": Value(options.from?.description),
            "to": Value(options.to?.description),
            "rings": .object(ringMembers), "completeness": .array(types.map(typeValue)),
            "changedAfterFinal": .array(
                revised.map { ["date": .string($0.date.description), "revision": .integer($0.revision)] }),
            "workouts": .object(workoutMembers),
            "documents": .object(
                Dictionary(uniqueKeysWithValues: documents.map { ($0.key.rawValue, Value($0.value)) })),
            "quarantined": .array(quarantined.map { ["reason": .string($0.reason), "count": .integer($0.count)] }),
        ]).json(pretty: true)
    }

    private var ringMembers: [String: Value] {
        [
            "tolerance": [
                "absolute": .number(options.tolerance.absolute), "relative": .number(options.tolerance.relative),
            ],
            "summaries": Value(summaries), "compared": Value(rings.compared), "equal": Value(rings.equal),
            "differing": Value(rings.differingDays),
            "onlyOurs": Value(rings.onlyOurs.count), "onlyApples": Value(rings.onlyApples.count),
            "onlyApplesDates": .array(rings.onlyApples.map { .string($0.description) }),
            "figures": .object(
                rings.byFigure.mapValues {
                    [
                        "compared": Value($0.compared), "differing": Value($0.differing),
                        "largestDifference": .number($0.largest), "onlyOurs": Value($0.onlyOurs),
                        "onlyApples": Value($0.onlyApples),
                    ]
                }),
            "differences": .array(
                rings.differences.map {
                    [
                        "date": .string($0.date.description), "figure": .string($0.figure), "unit": .string($0.unit),
                        "ours": .number($0.ours), "apples": .number($0.apples), "difference": .number($0.difference),
                    ]
                }),
        ]
    }

    private var workoutMembers: [String: Value] {
        [
            "count": Value(repeats.all.workouts), "distinct": Value(repeats.all.distinct),
            "newestOfRepeats": .bool(dropsRepeats),
            "sources": .array(
                repeats.bySource.sorted { $0.key < $1.key }.map { source, count in
                    ["source": .string(source), "workouts": Value(count.workouts), "distinct": Value(count.distinct)]
                }),
            "versions": .array(
                repeats.versions.map { found in
                    [
                        "date": .string(found.day.description), "source": .string(found.source),
                        "activity": .string(found.activity), "start": .string(InstantText.iso8601(found.start)),
                        "ends": .array(found.ends.map { .string(InstantText.iso8601($0)) }),
                    ]
                }),
            "days": .array(
                repeats.byDay.sorted { $0.key < $1.key }.map { day, count in
                    [
                        "date": .string(day.description), "workouts": Value(count.workouts),
                        "distinct": Value(count.distinct),
                    ]
                }),
        ]
    }

    /// nil if there are none, or only some days are checked.
    func overlaps(of type: TypeDays) -> TypeDays.Overlaps? {
        guard options.from == nil, options.to == nil else { return nil }
        return type.overlaps.map { TypeDays.Overlaps($0, zones) }
    }

    private func typeValue(_ type: TypeDays) -> Value {
        var members = type.days.value
        members["type"] = .string(type.type)
        members["late"] = type.late(from: options.from, to: options.to).value
        if options.from == nil, options.to == nil {
            members["samples"] = .integer(type.samples)
            members["firstSample"] = Value(type.firstStart.map { InstantText.iso8601($0) })
            members["lastSample"] = Value(type.lastEnd.map { InstantText.iso8601($0) })
            if let overlaps = overlaps(of: type) { members["overlaps"] = overlaps.value }
        }
        return .object(members)
    }
}
