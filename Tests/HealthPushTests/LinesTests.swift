import HealthModel
import HealthPush
import Testing

/// Plain lines, as a person's Shortcut sends them.
struct LinesTests {
    private static let start = "2025-03-30T08:00:00+02:00"
    private static let end = "2025-03-30T08:10:00+02:00"

    static func changes(_ text: String) throws -> PushedChanges {
        try WayIn.lines.changes(in: Array(text.utf8), type: "text/plain", now: testNow)
    }

    /// The value of a line of a type, in a request with others.
    private static func value(
        _ type: String, _ value: String, _ unit: String = "", with others: [String] = []
    ) throws -> Double? {
        let lines = ["\(type);\(start);\(end);\(value);\(unit);Watch"] + others.map { "\(type);\(end);;\($0);\(unit)" }
        return try changes(lines.joined(separator: "\n")).rows.first { $0.line == 1 }?.value
    }

    // MARK: Lines

    @Test func aLineIsASample() throws {
        let changes = try Self.changes("Steps;\(Self.start);\(Self.end);120;count;Robin’s Watch")
        #expect(changes.items == 1 && changes.quarantined.isEmpty)
        let row = try #require(changes.rows.first)
        #expect(row.type == "HKQuantityTypeIdentifierStepCount" && row.unit == "count" && row.value == 120)
        #expect(row.start == "2025-03-30T06:00:00Z" && row.end == "2025-03-30T06:10:00Z")
        #expect(row.source == "Robin’s Watch" && row.uuid.isEmpty && row.payload.isEmpty)
    }

    @Test func fieldsAtTheEndMayBeMissing() throws {
        let changes = try Self.changes(
            "Heart Rate;\(Self.start);;61\nWeight;\(Self.start);\(Self.start);71,4;;\nWater;\(Self.start);;250;;;;")
        #expect(changes.quarantined.isEmpty)
        #expect(changes.rows.map(\.value) == [61, 71.4, 250] && changes.rows.map(\.unit) == ["count/min", "kg", "mL"])
        #expect(changes.rows.allSatisfy { $0.start == $0.end && $0.source.isEmpty })
    }

    @Test func whatIsNoSampleIsSkipped() throws {
        let changes = try Self.changes(
            "\u{FEFF}Type;Start;End;Value;Unit;Source\r\n\r\n \t\r\n"
                + "Steps;\(Self.start);\(Self.end);7;count;Watch\r\n\n")
        #expect(changes.items == 1 && changes.rows.map(\.source) == ["Watch"] && changes.quarantined.isEmpty)
        // Only the first line can be a header.
        let second = try Self.changes("Steps;\(Self.start);;7\ntype;start;end")
        #expect(second.items == 2 && second.reasons.map { String($0.prefix(7)) } == ["line 2:"])
    }

    @Test func aFieldMayBeInQuotes() throws {
        let line = #"  "Steps" ; "\#(Self.start)" ;;"1,234.5"; count; "Robin; the ""Watch""" "#
        let row = try #require(try Self.changes(line).rows.first)
        #expect(row.source == #"Robin; the "Watch""# && row.value == 1234.5)
        // Elsewhere a quote is a character.
        let plain = try #require(try Self.changes(#"Steps;\#(Self.start);;7;count;The "Watch""#).rows.first)
        #expect(plain.source == #"The "Watch""#)
    }

    @Test(arguments: ["", "\n\r\n  \n", "type;start;end;value;unit;source", "\u{FEFF}"])
    func aBodyWithoutLinesIsRefused(text: String) {
        #expect(throws: PushError.self) { try Self.changes(text) }
    }

    @Test func aBodyThatIsNotUTF8IsRefused() {
        #expect(throws: PushError("the body isn't UTF-8")) {
            try WayIn.lines.changes(in: [0x53, 0xFF, 0xFE], type: "text/plain", now: testNow)
        }
    }

    // MARK: Types and units

    @Test(arguments: [
        ("HKQuantityTypeIdentifierStepCount", "StepCount"), ("StepCount", "StepCount"), ("stepcount", "StepCount"),
        ("Step Count", "StepCount"), ("steps", "StepCount"), ("heart rate", "HeartRate"), ("HEART RATE", "HeartRate"),
        ("Resting Heart Rate", "RestingHeartRate"), ("Heart Rate Variability", "HeartRateVariabilitySDNN"),
        ("Active Calories", "ActiveEnergyBurned"), ("Resting Calories", "BasalEnergyBurned"),
        ("Walking + Running Distance", "DistanceWalkingRunning"), ("Cycling Distance", "DistanceCycling"),
        ("Flights Climbed", "FlightsClimbed"), ("Weight", "BodyMass"), ("Body Mass Index", "BodyMassIndex"),
        ("VO₂ Max", "VO2Max"), ("Blood Oxygen", "OxygenSaturation"), ("Exercise Minutes", "AppleExerciseTime"),
        ("Systolic Blood Pressure", "BloodPressureSystolic"), ("Respiratory Rate", "RespiratoryRate"),
        ("HKQuantityTypeIdentifierHologramCount", "HologramCount"),
    ])
    func aTypeHasManyNames(name: String, type: String) throws {
        let changes = try Self.changes("\(name);\(Self.start);\(Self.end);2")
        #expect(changes.rows.map(\.type) == ["HKQuantityTypeIdentifier" + type], "\(changes.reasons)")
    }

    private static let units: [(String, String, String, Double, String)] = [
        ("Heart Rate", "61", "bpm", 61, "count/min"), ("Heart Rate", "61", "count/min", 61, "count/min"),
        ("Steps", "12", "steps", 12, "count"), ("Steps", "12", "", 12, "count"),
        ("Active Energy", "10", "kcal", 10, "kcal"), ("Active Energy", "41.84", "kJ", 10, "kcal"),
        ("Walking + Running Distance", "0,129867", "km", 129.867, "m"), ("Weight", "10", "lb", 4.5359237, "kg"),
        ("Body Temperature", "36,6", "°C", 36.6, "degC"), ("HKQuantityTypeIdentifierHologram", "2", "lm", 2, "lm"),
    ]

    @Test(arguments: units)
    func aUnitIsAsShortcutsOrHealthKitPrintIt(
        type: String, printed: String, unit: String, value: Double, canonical: String
    ) throws {
        let row = try #require(try Self.changes("\(type);\(Self.start);\(Self.end);\(printed);\(unit)").rows.first)
        let found = try #require(row.value)
        #expect(abs(found - value) < 1e-9 && row.unit == canonical)
    }

    // MARK: Numbers

    private static let numbers: [(String, Double)] = [
        ("1234.5", 1234.5), ("1,234.5", 1234.5), ("1.234,5", 1234.5), ("1 234,5", 1234.5), ("1\u{A0}234,5", 1234.5),
        ("1\u{202F}234,5", 1234.5), ("1’234.5", 1234.5), ("1'234,5", 1234.5), ("١٬٢٣٤٫٥", 1234.5), ("۱۲۳۴٫۵", 1234.5),
        ("\u{200F}१२३४.५", 1234.5), ("12,34,567.5", 1_234_567.5), ("1,234,567", 1_234_567), ("1.234.567", 1_234_567),
        ("1234,567", 1234.567), ("1 234", 1234), ("0,975", 0.975), ("0.975", 0.975), (".5", 0.5), ("1,5", 1.5),
        ("12,3456", 12.3456), ("7", 7), ("+7", 7), ("1e3", 1000), ("1.5E-1", 0.15), ("１２．５", 12.5),
    ]

    @Test(arguments: numbers)
    func aNumberIsAsPhonesPrintIt(text: String, value: Double) throws {
        #expect(try Self.value("HKQuantityTypeIdentifierHologram", text) == value, "\(text)")
    }

    @Test(arguments: ["−5", "-5", "\u{200E}-5", "- 5"]) func aNumberMayBeNegative(text: String) throws {
        #expect(try Self.value("Body Temperature", text, "degC") == -5)
    }

    @Test(arguments: [
        "many", "1,2.3,4", "1,23.456.7", "5.", "1 23", "1,5 234", "--1", "1-2", "9%7", "1٫2٫3", ",", "-", "%", "1..2",
        "0x10", "nan", "inf", "1e", String(repeating: "1", count: 129),
    ])
    func whatIsNoNumberIsQuarantined(text: String) throws {
        let changes = try Self.changes("HKQuantityTypeIdentifierHologram;\(Self.start);;\(text)")
        #expect(changes.rows.isEmpty && changes.reasons == ["line 1: value isn't a number"], "\(text)")
    }

    private static let settled: [(String, [String], Double)] = [
        ("1,234", ["2,5"], 1.234), ("1,234", ["2.5"], 1234), ("1.234", ["2,5"], 1234), ("1.234", ["2.5"], 1.234),
        ("1,234", ["1.234.567"], 1.234), ("1,234", ["1,234,567"], 1234), ("1,234", ["1 234,5"], 1.234),
        ("1,234", ["0.125", "7", "9,876"], 1234),
    ]

    @Test(arguments: settled)
    func otherLinesSettleAnOpenNumber(text: String, others: [String], value: Double) throws {
        #expect(try Self.value("Steps", text, with: others) == value)
        // Whatever their order.
        let lines = (others + [text]).map { "Steps;\(Self.start);\(Self.end);\($0)" }
        #expect(try Self.changes(lines.joined(separator: "\n")).rows.last?.value == value)
    }

    @Test(arguments: [["1,234"], ["1.234"], ["1,234", "7"], ["1,234", "2,5", "2.5"], ["1,234", "9.876"]])
    func whatNothingSettlesIsQuarantined(numbers: [String]) throws {
        let changes = try Self.changes(numbers.map { "Steps;\(Self.start);\(Self.end);\($0)" }.joined(separator: "\n"))
        let reason = try #require(changes.reasons.first)
        #expect(reason.hasPrefix("line 1: value has a comma or point before three digits"))
        #expect(reason.contains("send it"))
        #expect(!changes.rows.contains { $0.value == 1234 || $0.value == 1.234 })
    }

    private static let impossible: [(String, String, String, Double)] = [
        ("Weight", "71,234", "kg", 71.234), ("Weight", "150.234", "lb", 150.234 * 0.45359237),
        ("Height", "1.785", "m", 1.785), ("Heart Rate", "61,234", "bpm", 61.234),
    ]

    /// Nobody weighs 71234 kg, and no heart beats 1.02 times a minute.
    @Test(arguments: impossible)
    func whatIsImpossibleSettlesIt(type: String, text: String, unit: String, value: Double) throws {
        let found = try #require(try Self.value(type, text, unit))
        #expect(abs(found - value) < 1e-9)
    }

    private static let shares: [(String, String, Double)] = [
        ("97", "%", 0.97), ("97,5", "%", 0.975), ("0.97", "%", 0.97), ("97 %", "", 0.97), ("٩٧٪", "", 0.97),
        ("%97", "%", 0.97), ("0,5 %", "", 0.005), ("97", "", 0.97), ("0.97", "", 0.97), ("1", "%", 1),
    ]

    @Test(arguments: shares)
    func aShareIsAFraction(text: String, unit: String, value: Double) throws {
        #expect(try Self.value("Blood Oxygen", text, unit) == value)
    }

    /// A phone that prints percentages prints all of them so.
    @Test func oneAboveOneAndAHalfMakesAllOfThemPercentages() throws {
        #expect(try Self.value("Walking Asymmetry", "1.2", "%") == 1.2)
        #expect(try Self.value("Walking Asymmetry", "1.2", "%", with: ["4"]) == 0.012)
        let changes = try Self.changes(
            "Blood Oxygen;\(Self.start);;97;%\nWalking Asymmetry;\(Self.start);;0.5;%\nSteps;\(Self.start);;3;count")
        #expect(changes.rows.map(\.value) == [0.97, 0.005, 3])
    }

    // MARK: Categories

    private static let stages: [(String, Double)] = [
        ("Asleep", 1), ("Core", 3), ("Deep", 4), ("REM", 5), ("Awake", 2), ("In Bed", 0), ("in bed", 0), ("4", 4),
        ("٤", 4),
        ("AsleepCore", 3), ("HKCategoryValueSleepAnalysisAsleepDeep", 4),
    ]

    @Test(arguments: stages)
    func sleepIsAStageByNameOrNumber(text: String, value: Double) throws {
        for type in ["sleep", "Sleep Analysis", "HKCategoryTypeIdentifierSleepAnalysis"] {
            #expect(try Self.value(type, text) == value)
        }
    }

    @Test func otherCategoriesToo() throws {
        let changes = try Self.changes(
            "Headache;\(Self.start);\(Self.end);Mild\nMindful Minutes;\(Self.start);\(Self.end);10 min\n"
                + "Handwashing;\(Self.start)\nApple Stand Hour;\(Self.start);\(Self.end);Stood")
        #expect(changes.rows.map(\.value) == [2, 0, 0, 0] && changes.quarantined.isEmpty)
        #expect(changes.rows.map(\.unit) == ["", "", "", ""])
    }

    // MARK: What is wrong

    private static let wrong: [(String, String)] = [
        ("", "type is missing"), (";\(start);;1", "type is missing"), ("Hologram;\(start);;1", "type isn't known"),
        ("Workout;\(start);;1", "type isn't known"), ("HKWorkoutTypeIdentifier;\(start);;1", "type isn't known"),
        ("HKQuantityTypeIdentifierStepCount.statistics;\(start);\(end);1", "type isn't known"),
        ("Blood Pressure;\(start);;120", "type is two"), ("Steps", "start is missing"),
        ("Steps;yesterday;;1", "the start isn't a date"),
        ("Steps;Mar 30, 2025 at 8:15 AM;;1", "the start isn't a date"),
        ("Steps;30.03.2025, 08:15;;1", "the start isn't a date"),
        ("Steps;2025-03-30T08:15:00;;1", "the start isn't a date"),
        ("Steps;\(start);soon;1", "the end isn't a date"), ("Steps;\(end);\(start);1", "end is before start"),
        ("Steps;1403-01-11 08:15:00 +0330;;1", "the start is of the Persian calendar"),
        ("Steps;\(start);;", "value is missing"), ("Steps;\(start);;many", "value isn't a number"),
        ("Steps;\(start);;1;km", "unit doesn't belong to this type"), ("Steps;\(start);;97 %", "unit doesn't belong"),
        ("Sleep;\(start);\(end);27", "value isn't one of this type's"), ("Sleep;\(start);\(end);", "value is missing"),
        ("Sleep;\(start);\(end);Kern", "value isn't one of this type's"),
        ("Steps;\(start);;1;count;Watch;more", "there are more than 6 fields"),
        ("Steps;\(start);;1;count;\"Watch", "a quote isn't closed"),
    ]

    @Test(arguments: wrong)
    func aWrongLineIsQuarantinedWithItsNumberAndField(line: String, reason: String) throws {
        let good = "Steps;\(Self.start);\(Self.end);7;count;Watch"
        let body = [good, line, good].joined(separator: "\n")
        let changes = try Self.changes(body)
        guard !line.isEmpty else {
            #expect(changes.items == 2)
            return
        }
        #expect(changes.items == 3 && changes.rows.map(\.line) == [1, 3])
        let input = try #require(changes.quarantined.first)
        #expect(changes.quarantined.count == 1 && input.line == 2 && input.raw == line)
        #expect(input.reason.hasPrefix("line 2: \(reason)"), "\(input.reason)")
    }

    @Test func aDateWithoutAnOffsetSaysWhatToSend() throws {
        let changes = try Self.changes("Steps;30.03.2025, 08:15;;1")
        #expect(changes.reasons.first?.contains("send ISO 8601") == true)
    }

    @Test(arguments: [
        "2025-03-30T08:00:00+02:00", "2025-03-30T06:00:00Z", "2025-03-30 08:00:00 +0200",
        "2025-03-30 8:00:00 AM +0200", "2025-03-30 上午8:00:00 +0200", "٢٠٢٥-٠٣-٣٠ ٨:٠٠:٠٠ ص +0200",
    ])
    func aDateMayBeAsPhonesPrintIt(text: String) throws {
        #expect(try Self.changes("Steps;\(text);;1").rows.map(\.start) == ["2025-03-30T06:00:00Z"])
    }

    // MARK: Once more

    @Test func aLineInQuarantineIsReadAgain() throws {
        let line = "Steps;\(Self.start);\(Self.end);7;count;Watch"
        #expect(WayIn.lines.records(in: line)?.value == [7])
        // What settled it isn't there any more.
        for raw in ["Steps;\(Self.start);;1,234", "Hologram;\(Self.start);;1", ""] {
            #expect(WayIn.lines.records(in: raw) == nil)
        }
    }

    @Test func itemsAreCountedBeyondTheLimit() {
        let body = String(repeating: "x\n", count: 250_001)
        #expect(throws: PushError("the body has more than 250000 items", isTooLarge: true)) { try Self.changes(body) }
    }
}
