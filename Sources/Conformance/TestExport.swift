import Foundation
import HealthModel
import JSON

/// Writes made-up samples in the form of an export from the Health app.
enum TestExport {
    static func write(_ rows: [TestRow], to path: String, zones: ZoneTimeline, exported: Instant) throws {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<HealthData locale=\"en_GB\">\n"
        text += " <ExportDate value=\"\(date(exported, zones))\"/>\n"
        for row in rows {
            let type = HealthType.named(row.type)
            let source = TestRow.sources[row.source]
            let times =
                "sourceName=\"\(XMLText.escaped(source.sourceName))\" sourceVersion=\"\(source.sourceVersion)\""
                + (source.device.isEmpty
                    ? "" : " device=\"\(XMLText.escaped("<<HKDevice: 0x1>, \(source.device)>"))\"")
                + " creationDate=\"\(date(row.end, zones))\" startDate=\"\(date(row.start, zones))\""
                + " endDate=\"\(date(row.end, zones))\""
            if type.kind == .workout {
                let minutes = Double((row.end - row.start).microseconds) / 60e6
                text +=
                    " <Workout workoutActivityType=\"HKWorkoutActivityTypeWalking\" duration=\"\(minutes)\" durationUnit=\"min\" \(times)/>\n"
                continue
            }
            let unit = type.kind == .quantity && !type.unit.isEmpty ? " unit=\"\(XMLText.escaped(type.unit))\"" : ""
            let value = row.value.isNaN ? "" : " value=\"\(number(row.value, type))\""
            text += " <Record type=\"\(row.type)\"\(unit)\(value) \(times)"
            text +=
                row.byHand ? ">\n  <MetadataEntry key=\"HKWasUserEntered\" value=\"1\"/>\n </Record>\n" : "/>\n"
        }
        text += "</HealthData>\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    private static func number(_ value: Double, _ type: HealthType) -> String {
        guard type.kind == .category else { return JSONNumber.text(value) }
        return CategoryValue.name(of: Int(value), type: type.identifier) ?? "\(Int(value))"
    }

    private static func date(_ instant: Instant, _ zones: ZoneTimeline) -> String {
        // Times are in UTC, because a local time that occurs twice would be ambiguous.
        let day = LocalDay(number: Int((instant.microseconds / Instant.microsecondsPerSecond).floored(by: 86_400)))
        let second = Int(instant.microseconds / Instant.microsecondsPerSecond) - day.number * 86_400
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(day) \(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) +0000"
    }
}

extension Int64 {
    /// Rounds down, for negative numbers too.
    fileprivate func floored(by divisor: Int64) -> Int64 { self >= 0 ? self / divisor : (self + 1) / divisor - 1 }
}
