import Configuration
import Figures
import Foundation
import HealthModel
import HealthStatistics
import Testing

/// Visits are explained by the fixes on which they are based.
@Suite struct VisitsExplanationTests {
    private static func stack(_ name: String) throws -> StackConfiguration {
        let root = Checkout.root.path
        return try StackConfiguration(
            path: "\(root)/configs/\(name).json",
            catalog: try PluginCatalog(folder: root + "/plugins", programs: "/nowhere"))
    }

    @Test(arguments: ["visits", "CLLocation"]) func theyAgreeWithTheDay(_ name: String) throws {
        let metric = try ExplainedMetric(name, figures: try Self.stack("places").figures)
        #expect(metric.kind == .visits && metric.path == ["visits"])
        var samples = SamplePage()
        samples.types = [HealthType.locationIdentifier]
        samples.origins = [Origin(sourceName: "Phone")]
        let start = Instant(seconds: 1_748_764_800)
        for number in 0..<30 {
            let time = start + .seconds(Double(number) * 600)
            samples.ids.append(SampleID(high: 1, low: UInt64(number)))
            samples.sequence.append(1)
            samples.type.append(0)
            samples.start.append(time.microseconds)
            samples.end.append(time.microseconds)
            samples.value.append(.nan)
            samples.origin.append(0)
            samples.flags.append([])
            samples.payload.append(#"{"latitude":\#((5...20).contains(number) ? 52.5 : 52.6),"longitude":13.4}"#)
        }
        let traits = ExplainedDay.traits(of: metric)
        let input = DayInput(
            user: "me", day: LocalDay(year: 2025, month: 6, day: 1), window: try traits.window([:]),
            zones: try ZoneTimeline(zone: "Europe/Berlin"), cutting: samples,
            characteristics: ["conditions": ["Home": ["latitude": 52.5, "longitude": 13.4]]])
        let summary = Value.object(try PlacesDay(input).output.figures)
        let explained = try ExplainedDay(metric, input)
        #expect(explained.result == 1 && explained.agrees(with: summary))
        let visit = try #require(explained.members["visits"]?.array?.first)
        #expect(visit["fixesInside"] == 16 && visit["arrival"] == "entered" && visit["departure"] == "left")
        #expect(!explained.agrees(with: ["visits": [], "places": []]))
    }

    /// An app can watch 20 regions, whatever the stack.
    @Test func aPhoneHasTwentyPlaces() throws {
        let phone = try #require(try Self.stack("apple-like").instance("places"))
        #expect(phone.configuration["limit"] == 20)
        let own = try #require(try Self.stack("places").instance("places"))
        #expect(own.configuration["limit"] == 1000)
        #expect(try Self.stack("places").locators == ["places"])
    }
}
