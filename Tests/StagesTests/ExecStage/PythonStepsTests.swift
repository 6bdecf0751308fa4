import Configuration
import ExecDialogue
import ExecStage
import Foundation
import HandlerKit
import HealthModel
import HealthStatistics
import MessageBus
import Simulation
import StageKit
import StepsStage
import TestSupport
import Testing

/// The Python example gives the same figures as the Swift handler, to the last bit.
@Suite struct PythonStepsTests {
    private static let types = [
        "HKQuantityTypeIdentifierStepCount", "HKQuantityTypeIdentifierDistanceWalkingRunning",
        "HKQuantityTypeIdentifierFlightsClimbed", "HKQuantityTypeIdentifierHeartRate",
    ]
    /// Sources: two spellings of one name, two of the same rank, and some with the properties that decide the rank.
    private static let origins = [
        Origin(sourceName: "Zo\u{EB}\u{2019}s Apple Watch"), Origin(sourceName: "Zoe\u{308}\u{2019}s Apple Watch"),
        Origin(sourceName: "iPhone"), Origin(sourceName: "Pedometer"), Origin(sourceName: "Another"),
        Origin(sourceName: "x", productType: "Watch6,1"), Origin(sourceName: "y", device: "name:y, model:iPhone"),
        renamed,
    ]
    private static var renamed: Origin {
        var origin = Origin(sourceName: "Clip 2")
        origin.otherNames = ["Clip", "Pedometer"]
        return origin
    }

    @Test func equalsTheSwiftHandler() throws {
        let manifest = try Checkout.manifest("steps-python", in: "plugins/examples")
        let runner = try ExecRunner(
            try #require(manifest.exec), instance: "steps", plugin: manifest.name, types: manifest.types,
            configuration: [:], log: .silent)
        defer { runner.stop() }
        let swift = StepsHandler()
        #expect(runner.traits.version == swift.version)
        var random = SeededRandom(seed: 7)
        // Days of 24, 23 and 25 hours, one that is repeated by a flight across the date line, and one that is skipped.
        let berlin = try ZoneTimeline(zone: "Europe/Berlin")
        let line = Instant(seconds: 1_743_000_000)
        let east = try ZoneTimeline([
            .init(from: .distantPast, zone: "Pacific/Auckland"), .init(from: line, zone: "Pacific/Honolulu"),
        ])
        let west = try ZoneTimeline([
            .init(from: .distantPast, zone: "Pacific/Honolulu"), .init(from: line, zone: "Pacific/Auckland"),
        ])
        var places: [(ZoneTimeline, LocalDay)] = ["2025-03-26", "2025-03-30", "2025-10-26"].compactMap {
            LocalDay($0).map { (berlin, $0) }
        }
        for zones in [east, west] { places += (-1...1).map { (zones, zones.day(of: line).adding(days: $0)) } }
        var figures = 0
        for round in 0..<60 {
            let (zones, day) = places[round % places.count]
            let configuration: Value =
                round % 3 == 0
                ? ["sourceOrder": [Self.types[0]: ["Pedometer", "Zo\u{EB}\u{2019}s Apple Watch", "Pedometer"]]] : [:]
            let around = zones.ranges(of: day).first?.lowerBound ?? line
            let input = DayInput(
                user: "me", day: day, window: .localDay, zones: zones,
                cutting: Self.samples(around: around, count: round % 4 == 3 ? round / 2 : round * 20, &random),
                configuration: configuration)
            let expected = try swift.compute(input)
            #expect(try Self.compute(input, runner) == expected, "round \(round), \(day)")
            figures += expected.figures.count
        }
        #expect(figures > 120)
    }

    static func compute(_ input: DayInput, _ runner: ExecRunner) throws -> DayOutput {
        let answers = Mailbox<EffectResult>(capacity: 1)
        runner.perform(Effect(id: 1, request: DayRequest(input: input))) { answers.offer($0) }
        let reply = try #require(answers.take(limit: 1, timeout: Patience.seconds).first?.value as? DayReply)
        guard case .computed(var output) = reply else {
            Issue.record("\(reply)")
            return DayOutput()
        }
        // JSON doesn't distinguish 3 from 3.0.
        output.figures = output.figures.mapValues(numbers)
        output.hourly = output.hourly.mapValues(numbers)
        return output
    }

    private static func numbers(_ value: Value) -> Value {
        if let list = value.array { return .array(list.map(numbers)) }
        return value.double.map { .number($0) } ?? value
    }

    private static func samples(around start: Instant, count: Int, _ random: inout SeededRandom) -> SamplePage {
        var rows: [(start: Instant, end: Instant, type: Int32)] = (0..<count).map { _ in
            let begin = start + .seconds(Int64.random(in: -7200...30 * 3600, using: &random))
            let length =
                [0, .random(in: 0...90, using: &random), 3 * 3600 + 1, 5 * 3600 + 1, 86_401]
                .randomElement(using: &random) ?? 0
            return (
                begin, begin + (length % 5 == 0 ? .zero : .seconds(length) + .microseconds(length)),
                Int32.random(in: 0...3, using: &random)
            )
        }
        rows.sort { $0.start < $1.start }
        var page = SamplePage()
        page.types = types
        page.origins = origins
        for (index, row) in rows.enumerated() {
            page.ids.append(SampleID(high: 0, low: UInt64(index)))
            page.sequence.append(1)
            page.type.append(row.type)
            page.start.append(row.start.microseconds)
            page.end.append(row.end.microseconds)
            page.value.append(index % 50 == 0 ? .nan : Double.random(in: 0..<300, using: &random))
            page.origin.append(Int32.random(in: 0..<Int32(origins.count), using: &random))
            page.flags.append([20: .userEntered, 19: .manual][Int.random(in: 1...20, using: &random)] ?? [])
        }
        return page
    }
}
