import Foundation
import HealthGenerator
import HealthImport
import HealthModel
import HealthStatistics
import TestSupport
import Testing

@Suite struct GeneratorTests {
    private func generate(_ options: ExportGenerator.Options) throws -> (
        bytes: Data, result: ExportGenerator.Result, receiver: CollectingReceiver, summary: ReadSummary
    ) {
        let folder = try TemporaryFolder()
        let path = folder.path + "/export.zip"
        let result = try ExportGenerator(options).write(to: path)
        let receiver = CollectingReceiver()
        let summary = try ExportReader(path: path).read(into: receiver.take)
        return (try Data(contentsOf: URL(fileURLWithPath: path)), result, receiver, summary)
    }

    @Test func oneSeedGivesTheSameBytes() throws {
        let first = try generate(.init(days: 5, seed: 7))
        let again = try generate(.init(days: 5, seed: 7))
        let other = try generate(.init(days: 5, seed: 8))
        #expect(first.bytes == again.bytes)
        #expect(first.bytes != other.bytes)
    }

    /// The same person over a longer period, and up to a different day.
    @Test(arguments: [(7, 5), (12, 5), (11, 2)]) func aLongerPeriodContainsAShorterOne(days: Int, end: Int) throws {
        func samples(_ days: Int, _ end: Int) throws -> [String: Int] {
            let made = try generate(.init(days: days, seed: 7, end: LocalDay(year: 2025, month: 4, day: end)))
            #expect(made.summary.recordElements == made.result.records)
            let rows = made.receiver.rows.filter { !$0.type.hasSuffix("Height") }.map {
                "\($0.type) \($0.origin.sourceName) \($0.start) \($0.end) \($0.value) \($0.created) \($0.metadata) \($0.payload)"
            }
            return Dictionary(rows.map { ($0, 1) }, uniquingKeysWith: +)
        }
        let (short, long) = (try samples(days, end), try samples(40, 5))
        #expect(short.count > 5000 && long.count > short.count)
        let others = short.filter { long[$0.key] ?? 0 < $0.value }
        #expect(others.isEmpty, "\(others.keys.prefix(5))")
    }

    @Test(arguments: [(0, 1), (1, 1), (49, 3), (5000, 1), (5000, 40), (20_000, 10)])
    func theCountOfRecordsIsMetExactly(records: Int, days: Int) throws {
        let made = try generate(.init(days: days, seed: 3, records: records))
        #expect(made.result.records == records)
        #expect(made.summary.recordElements == records)
        #expect(made.summary.quarantined == 0 && made.summary.damaged == nil && made.summary.charactersReplaced == 0)
        if records >= 5000 { #expect(made.result.bytes >= 400 * records) }
    }

    /// The last day is only half over: what it will bring isn't there yet, and everything else is as it always is.
    @Test func nothingComesFromTheFuture() throws {
        let noon = try #require(InstantText.parse("2025-04-05T12:00:00+02:00"))
        let whole = try generate(.init(days: 3, seed: 7))
        let half = try generate(.init(days: 3, seed: 7, now: noon))
        #expect(half.receiver.info?.date == noon)
        #expect(half.summary.recordElements == half.result.records)
        let past = whole.receiver.rows.filter { Instant(seconds: $0.created) <= noon }
        #expect(past.count < whole.receiver.rows.count)
        let difference = half.receiver.rows.map { "\($0.type) \($0.start)" }
            .difference(from: past.map { "\($0.type) \($0.start)" })
        #expect(difference.isEmpty, "\(difference)")
        let tomorrow = try generate(.init(days: 4, seed: 7, end: LocalDay(year: 2025, month: 4, day: 6), now: noon))
        #expect(tomorrow.receiver.rows.map(\.start) == half.receiver.rows.map(\.start))
    }

    /// As for someone who walks along streets and over gentle hills.
    @Test func routesClimbAsRealOnesDo() throws {
        let made = try generate(.init(days: 60, seed: 1))
        for (_, parts) in Dictionary(grouping: made.receiver.routes, by: \.path) {
            var gain = ElevationGain(threshold: 3)
            for elevation in parts.flatMap(\.elevation) { gain.add(elevation) }
            #expect((5..<250).contains(try #require(gain.ascent)))
        }
    }

    @Test func anOrdinaryLifeHasWhatRealExportsHave() throws {
        let made = try generate(.init(days: 40, seed: 1))
        let types = Set(made.receiver.rows.map(\.type))
        #expect(types.count >= 25)
        #expect(types.isSuperset(of: ["HKWorkoutTypeIdentifier", "HKCorrelationTypeIdentifierBloodPressure"]))
        #expect(made.summary.workouts == made.result.workouts && made.result.workouts > 5)
        #expect(made.summary.routes == made.result.routes && made.result.routes > 3)
        #expect(made.receiver.routes.allSatisfy { $0.workout != nil })
        #expect(made.summary.activitySummaries == 40 && made.summary.correlations == made.result.correlations)
        #expect(made.summary.ignoredEntries == ["apple_health_export/export_cda.xml"])
        let sources = Set(made.receiver.rows.filter { $0.type.hasSuffix("StepCount") }.map(\.origin.sourceName))
        #expect(sources == ["Robin’s Apple\u{A0}Watch", "Robin’s iPhone"])
        let beats = made.receiver.rows.filter { $0.payload.hasPrefix("{\"beats\"") }
        #expect(beats.count > 200 && beats.allSatisfy { !$0.payload.contains("null") && !$0.payload.contains(",-") })
        // Grouped by type and source, in chronological order within each group.
        var last: [String: String] = [:]
        for row in made.receiver.rows {
            let key = "\(row.type) \(row.origin.sourceName)"
            #expect(row.start >= last[key] ?? "" || row.flags.contains(.correlationChild))
            last[key] = row.start
        }
        #expect(made.receiver.rows.allSatisfy { $0.start <= $0.end })
    }

    /// Summer time begins on 2025-03-30: people still sleep at night, but there is only one offset in the whole file.
    @Test func clocksChangeButNightsStay() throws {
        let made = try generate(.init(days: 10, seed: 2, end: LocalDay(year: 2025, month: 4, day: 3)))
        let nights = made.receiver.rows.filter {
            $0.type.hasSuffix("SleepAnalysis") && $0.origin.sourceName.contains("Watch")
        }
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        for night in nights {
            let start = try #require(InstantText.parse(night.start))
            let day = zones.day(of: start)
            let midnight = try #require(zones.ranges(of: day).first?.lowerBound)
            let hour = (start - midnight).components.seconds / 3600
            #expect(hour < 10 || hour >= 20)
        }
        #expect(nights.count > 100)
    }

    @Test func oneLifeInTwoSystemsIsOneLife() throws {
        let metric = try generate(.init(days: 12, seed: 5, records: 6000))
        let imperial = try generate(.init(days: 12, seed: 5, records: 6000, unitSystem: .imperial))
        #expect(metric.bytes != imperial.bytes)
        #expect(metric.receiver.rows.count == imperial.receiver.rows.count)
        for (a, b) in zip(metric.receiver.rows, imperial.receiver.rows) {
            #expect(
                a.type == b.type && a.unit == b.unit && a.origin == b.origin && a.start == b.start && a.end == b.end)
            #expect(a.value.isNaN ? b.value.isNaN : abs(a.value - b.value) <= 2e-5 * abs(a.value))
        }
    }

    @Test func valuesArePlausible() throws {
        let made = try generate(.init(days: 30, seed: 11))
        for row in made.receiver.rows where !row.value.isNaN {
            let start = try #require(InstantText.parse(row.start))
            let end = try #require(InstantText.parse(row.end))
            let limit = PlausibilityLimit.of(HealthType.named(row.type))
            #expect(limit.reason(value: row.value, start: start, end: end, now: nil) == nil, "\(row.type)")
        }
    }

    /// Compressed, without sizes in the headers, as when the Health app streams an archive.
    @Test(arguments: [0.05, 0.5, 0.97]) func aCutArchiveGivesWhatIsBeforeTheCut(share: Double) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/export.zip"
        try ExportGenerator(.init(days: 30, seed: 4)).write(to: path)
        let whole = CollectingReceiver()
        _ = try ExportReader(path: path).read(into: whole.take)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let cut = CollectingReceiver()
        let cutPath = try folder.file("cut.zip", Array(bytes.prefix(Int(Double(bytes.count) * share))))
        let summary = try ExportReader(path: cutPath).read(into: cut.take)
        #expect(summary.damaged != nil && cut.rows.count > 500)
        #expect(
            cut.rows.elementsEqual(whole.rows.prefix(cut.rows.count)) { $0.start == $1.start && $0.line == $1.line })
    }

    @Test func wrongOptionsAreRefused() throws {
        #expect(throws: GeneratorError.self) { try ExportGenerator(.init(days: 0, seed: 1)) }
        #expect(throws: GeneratorError.self) { try ExportGenerator(.init(days: 1, seed: 1, records: -1)) }
        #expect(throws: ZoneError.self) { try ExportGenerator(.init(days: 1, seed: 1, zone: "Mars/Olympus")) }
        #expect(throws: GeneratorError.self) {
            try ExportGenerator(.init(days: 1, seed: 1)).write(to: "/nonexistent/x.zip")
        }
    }
}
