import Configuration
import ExecStage
import Foundation
import HandlerKit
import HealthModel
import Simulation
import SleepStage
import StageKit
import TestSupport
import Testing

/// The Python example has the same nights as the Swift handler, with the same ids and to the last bit.
@Suite struct PythonSleepTests {
    private static let type = "HKCategoryTypeIdentifierSleepAnalysis"
    private static let origins = [
        Origin(sourceName: "Zo\u{EB}\u{2019}s Apple Watch"), Origin(sourceName: "iPhone"), Origin(sourceName: "Pillow"),
        Origin(sourceName: "x", productType: "Watch6,1"),
    ]

    @Test func equalsTheSwiftHandler() throws {
        let manifest = try Checkout.manifest("sleep-python", in: "plugins/examples")
        let order: Value = ["sourceOrder": [Self.type: ["Pillow", "iPhone"]]]
        let several: Value = ["gapMinutes": 17.5, "windowHour": 20, "sourceOrder": [:]]
        var events = 0
        for (number, configuration) in [[:], order, several].enumerated() {
            let runner = try ExecRunner(
                try #require(manifest.exec), instance: "sleep", plugin: manifest.name, types: manifest.types,
                configuration: configuration, log: .silent)
            defer { runner.stop() }
            let swift = SleepHandler()
            let zones = try ZoneTimeline(zone: "Europe/Berlin")
            var random = SeededRandom(seed: UInt64(number + 3))
            for round in 0..<60 {
                let day = LocalDay(year: 2025, month: round % 2 == 0 ? 3 : 10, day: 26).adding(days: round % 5)
                let noon = (zones.ranges(of: day).first?.lowerBound ?? .epoch) + .seconds(12 * 3600)
                let input = DayInput(
                    user: "me", day: day, window: try swift.window(configuration), zones: zones,
                    cutting: Self.samples(before: noon, count: round % 4 == 3 ? 400 : round / 3, &random),
                    configuration: configuration)
                let expected = try swift.compute(input)
                let output = try PythonStepsTests.compute(input, runner)
                #expect(Self.lines(output) == Self.lines(expected), "round \(round), \(day)")
                events += expected.events.count
            }
        }
        #expect(events > 300)
    }

    /// As JSON text, in which 3 and 3.0 are equal.
    private static func lines(_ output: DayOutput) -> [String] {
        output.events.map { "\($0.id) \($0.kind) \($0.payload.json())" } + [Value.object(output.figures).json()]
    }

    private static func samples(before noon: Instant, count: Int, _ random: inout SeededRandom) -> SamplePage {
        var page = SamplePage()
        page.types = [type]
        page.origins = origins
        let starts = (0..<count).map { _ in noon - .seconds(Int64.random(in: 0...20 * 3600, using: &random)) }.sorted()
        for (index, start) in starts.enumerated() {
            let length = [0, 300, .random(in: 1...5400, using: &random)].randomElement(using: &random) ?? 0
            page.ids.append(SampleID(high: 0, low: UInt64(index)))
            page.sequence.append(1)
            page.type.append(0)
            page.start.append(start.microseconds)
            page.end.append((start + .seconds(length) + .microseconds(length % 7)).microseconds)
            page.value.append(index % 40 == 0 ? 9 : Double(Int.random(in: 0...5, using: &random)))
            page.origin.append(Int32.random(in: 0..<Int32(origins.count), using: &random))
            page.flags.append(Int.random(in: 1...20, using: &random) == 1 ? .userEntered : [])
        }
        return page
    }
}
