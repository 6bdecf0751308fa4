import HealthImport
import HealthModel
import TestSupport
import Testing

@Suite struct RecordTests {
    @Test func aRecordKeepsEverything() throws {
        let (receiver, summary) = try read(
            export(
                """
                 <Record type="HKQuantityTypeIdentifierDistanceWalkingRunning" sourceName="Robin’s Apple\u{A0}Watch" sourceVersion="11.3" device="&lt;&lt;HKDevice: 0x3016ae580&gt;, name:Apple Watch, model:Watch&gt;" unit="km" creationDate="2025-03-30 08:21:00 +0200" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:20:00 +0200" value="0.25">
                  <MetadataEntry key="HKMetadataKeySyncVersion" value="1"/>
                  <MetadataEntry key="Note" value="a &quot;quoted&quot; \\ note"/>
                 </Record>
                """))
        let row = try #require(receiver.rows.first)
        #expect(row.type == "HKQuantityTypeIdentifierDistanceWalkingRunning")
        #expect(row.value == 250 && row.unit == "m")
        #expect(row.start == "2025-03-30T06:15:00Z" && row.end == "2025-03-30T06:20:00Z")
        #expect(row.created == 1_743_315_660)
        #expect(
            row.origin
                == Origin(
                    sourceName: "Robin’s Apple\u{A0}Watch", sourceVersion: "11.3",
                    device: "name:Apple Watch, model:Watch"))
        #expect(row.metadata == #"{"HKMetadataKeySyncVersion":"1","Note":"a \"quoted\" \\ note"}"#)
        #expect(row.payload.isEmpty && row.flags.isEmpty && row.line == 4)
        #expect(summary.records == 1 && summary.quarantined == 0 && summary.damaged == nil)
        #expect(receiver.info == ExportInfo(date: Instant(seconds: 1_743_920_100), locale: "en_DE"))
    }

    @Test(arguments: [
        (#" origin="made up by healthbus""#, true), (#" origin="elsewhere""#, false), ("", false),
    ]) func aMadeUpExportSaysSo(mark: String, isMadeUp: Bool) throws {
        let (receiver, _) = try read("<HealthData locale=\"en_DE\"\(mark)>\n</HealthData>\n")
        #expect(receiver.info?.isMadeUp == isMadeUp && receiver.info?.locale == "en_DE")
    }

    @Test(arguments: [("1986-05-17", LocalDay(year: 1986, month: 5, day: 17)), ("", nil), ("17.5.1986", nil)])
    func ofTheUserOnlyTheDateOfBirthIsRead(text: String, birth: LocalDay?) throws {
        let characteristic = "HKCharacteristicTypeIdentifier"
        let me = "<Me \(characteristic)DateOfBirth=\"\(text)\" \(characteristic)BloodType=\"HKBloodTypeOPositive\"/>"
        let (receiver, summary) = try read(export(me + steps()))
        #expect(receiver.info?.dateOfBirth == birth && summary.records == 1 && summary.quarantined == 0)
    }

    @Test(arguments: [
        ("HKQuantityTypeIdentifierActiveEnergyBurned", "kJ", "4.184", 1, "kcal"),
        ("HKQuantityTypeIdentifierActiveEnergyBurned", "Cal", "12", 12, "kcal"),
        ("HKQuantityTypeIdentifierDistanceWalkingRunning", "mi", "1", 1609.344, "m"),
        ("HKQuantityTypeIdentifierBodyTemperature", "degF", "98.6", 37, "degC"),
        ("HKQuantityTypeIdentifierBodyMass", "lb", "100", 45.359237, "kg"),
        ("HKQuantityTypeIdentifierHeartRate", "count/s", "1.5", 90, "count/min"),
        ("HKQuantityTypeIdentifierStepCount", "count", "1.5e3", 1500, "count"),
        // The unit of an unknown type isn't changed.
        ("HKQuantityTypeIdentifierOfTomorrow", "flop", "-0.5", -0.5, "flop"),
    ])
    func valuesBecomeCanonical(type: String, unit: String, value: String, number: Double, canonical: String) throws {
        let (receiver, _) = try read(
            export(
                """
                <Record type="\(type)" unit="\(unit)" value="\(value)" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200"/>
                """))
        let row = try #require(receiver.rows.first)
        #expect(abs(row.value - number) <= 1e-9 * abs(number))
        #expect(row.unit == canonical)
    }

    @Test(arguments: [
        "0", "-0.0", "178", "47.8478", "0.00288", "1e-05", "123456789012345678", "0.1234567890123456789012",
        "31.73680251737436", "9007199254740993", "1e300", "+4.25",
    ])
    func numbersAreReadExactly(text: String) throws {
        let (receiver, _) = try read(export(steps(text)))
        #expect(receiver.rows.first?.value == Double(text))
    }

    @Test(arguments: ["", "1,5", "nan", "inf", "0x10", "1.2.3", "--1", "1e", " 1", "1e99999", "."])
    func whatIsNoNumberIsQuarantined(text: String) throws {
        let (receiver, summary) = try read(export("<!-- one\nmore line -->\n" + steps(text) + "\n" + steps()))
        #expect(summary.quarantined == 1 && summary.records == 1)
        let input = try #require(receiver.quarantine.first)
        #expect(input.line == 6)
        #expect(input.reason == "the value isn't a number")
        #expect(input.raw.hasPrefix("<Record type=") && input.raw.contains("value=\"\(text)\""))
    }

    @Test(arguments: [
        (
            #"<Record value="1" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200"/>"#,
            "there is no type"
        ),
        (#"<Record type="X" value="1" endDate="2025-03-30 08:15:00 +0200"/>"#, "there is no startDate"),
        (#"<Record type="X" value="1" startDate="2025-03-30 08:15:00 +0200"/>"#, "there is no endDate"),
        (steps(start: "yesterday"), "startDate isn't a date"),
        (steps(end: "2025-02-30 08:15:00 +0200"), "endDate isn't a date"),
        (
            #"<Record type="HKQuantityTypeIdentifierStepCount" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200"/>"#,
            "there is no value"
        ),
        (
            #"<Workout startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200"/>"#,
            "there is no workoutActivityType"
        ),
        (
            #"<Correlation startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200"/>"#,
            "there is no type"
        ),
        (#"<Riddle colour="blue"/>"#, "the element isn't known and has no type"),
        (#"<ActivitySummary dateComponents="soon"/>"#, "dateComponents isn't a date"),
    ])
    func whatCannotBeUnderstoodIsQuarantined(element: String, reason: String) throws {
        let (receiver, summary) = try read(export(steps() + "\n" + element + "\n" + steps()))
        #expect(receiver.quarantine.map(\.reason) == [reason])
        #expect(receiver.quarantine.first?.line == 5)
        #expect(summary.records == 2 && summary.quarantined == 1)
    }

    @Test func categoriesHaveRawValuesAndNoUnit() throws {
        let (receiver, _) = try read(
            export(
                ["HKCategoryValueSleepAnalysisAsleepREM", "HKCategoryValueOfTomorrow", "2"].map {
                    #"<Record type="HKCategoryTypeIdentifierSleepAnalysis" value="\#($0)" startDate="2025-03-30 01:15:00 +0200" endDate="2025-03-30 02:15:00 +0200"/>"#
                }.joined()))
        #expect(receiver.rows.map(\.unit) == ["", "", ""])
        #expect(receiver.rows[0].value == 5 && receiver.rows[2].value == 2)
        #expect(receiver.rows[1].value.isNaN && receiver.rows[1].payload == #"{"value":"HKCategoryValueOfTomorrow"}"#)
    }

    @Test func anUnknownTypeKeepsItsText() throws {
        let (receiver, _) = try read(
            export(
                #"<Record type="HKDataTypeOfTomorrow" value="calm" startDate="2025-03-30 01:15:00 +0200" endDate="2025-03-30 02:15:00 +0200"/>"#
            ))
        #expect(receiver.rows.first?.payload == #"{"value":"calm"}"#)
        #expect(receiver.rows.first?.value.isNaN == true)
    }

    @Test func entriesByHandAreFlagged() throws {
        let (receiver, _) = try read(
            export(
                #"<Record type="HKQuantityTypeIdentifierStepCount" value="1" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200"><MetadataEntry key="HKWasUserEntered" value="1"/></Record>"#
                    + #"<Record type="HKQuantityTypeIdentifierStepCount" value="1" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200"><MetadataEntry key="HKWasUserEntered" value="0"/></Record>"#
            ))
        #expect(receiver.rows.map(\.flags) == [.userEntered, []])
    }

    @Test func aKeyThatRepeatsHasAnArrayOfItsDifferentValues() throws {
        let entries = [("a", "1"), ("b", "2"), ("a", "1"), ("a", "3"), ("a", "3")].map { key, value in
            #"<MetadataEntry key="\#(key)" value="\#(value)"/>"#
        }
        let record = steps().replacing("/>", with: ">") + entries.joined() + "</Record>"
        let (receiver, _) = try read(export(record))
        #expect(receiver.rows.first?.metadata == #"{"a":["1","3"],"b":"2"}"#)
    }

    @Test func exactDuplicatesAreAllPassedOn() throws {
        let (receiver, summary) = try read(export(String(repeating: steps() + "\n", count: 3)))
        #expect(receiver.rows.count == 3 && summary.records == 3)
    }

    @Test func batchesAreBounded() throws {
        let (receiver, summary) = try read(export(String(repeating: steps() + "\n", count: 10_000)))
        #expect(summary.records == 10_000 && receiver.rows.count == 10_000)
        #expect(receiver.batchSizes == [4096, 4096, 1808])
        #expect(receiver.rows.last?.line == 10_003)
        #expect(receiver.lastProgress.read == receiver.lastProgress.total)
    }

    @Test func whatTheReceiverThrowsComesOut() throws {
        let folder = try TemporaryFolder()
        let receiver = CollectingReceiver()
        receiver.refuses = true
        let path = try folder.file("export.xml", export(String(repeating: steps() + "\n", count: 20_000)))
        #expect(throws: CollectingReceiver.Stop.self) { _ = try ExportReader(path: path).read(into: receiver.take) }
        #expect(receiver.rows.isEmpty)
    }
}
