import Configuration
import HandlerKit
import HealthModel
import Testing

@Suite struct HydrationTests {
    @Test func waterIsAddedUpByDayAndHour() throws {
        let handler = try #require(LinkedHandler.named("hydration"))
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        let day = LocalDay(year: 2025, month: 6, day: 1)
        let start = try #require(zones.ranges(of: day).first?.lowerBound)
        let hour = 3600 * Instant.microsecondsPerSecond
        var samples = SamplePage()
        samples.types = ["HKQuantityTypeIdentifierDietaryWater"]
        samples.origins = [Origin(sourceName: "Bottle")]
        for (index, (at, millilitres)) in [(7.5, 250.0), (7.9, 150), (20, 500)].enumerated() {
            samples.ids.append(SampleID(high: 1, low: UInt64(index)))
            samples.sequence.append(1)
            samples.type.append(0)
            samples.start.append(start.microseconds + Int64(at * Double(hour)))
            samples.end.append(start.microseconds + Int64(at * Double(hour)))
            samples.value.append(millilitres)
            samples.origin.append(0)
            samples.flags.append([])
        }
        func output(_ samples: SamplePage) throws -> DayOutput {
            try handler.compute(
                DayInput(user: "me", day: day, window: .localDay, zones: zones, cutting: samples))
        }
        #expect(try output(samples).figures == ["waterMilliliters": 900.0])
        let hours = try #require(try output(samples).hourly["waterMilliliters"]?.array)
        #expect(hours.count == 24 && hours[7] == 400.0 && hours[20] == 500.0 && hours[8] == .null)
        #expect(try output(SamplePage()) == DayOutput())
    }
}
