import Foundation
import HealthImport
import HealthModel
import Testing

/// Oddities of real exports that no specification mentions.
@Suite struct OddityTests {
    @Test func exportsOfIOS8HaveOtherNamesAndDates() throws {
        let (receiver, summary) = try read(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <HealthData locale="en_DE">
             <ExportDate value="20151107171924+0100"/>
             <Record type="HKQuantityTypeIdentifierBodyMass" source="Health" unit="kg" creationDate="20150718161651+0200" startDate="20150718161649+0200" endDate="20150718161649+0200" HKWasUserEntered="1" value="71.5"/>
             <Record type="HKQuantityTypeIdentifierHeartRate" source="Nights" unit="count/s" startDate="20150531161900+0200" endDate="20150601161900+0200" min="1" max="1.5" average="1.25" recordCount="3"/>
             <Record type="HKCategoryTypeIdentifierSleepAnalysis" source="Nights" unit="" startDate="20120923222959+0100" endDate="20120924045121+0100" sessionId="p1" value="1"/>
            </HealthData>
            """)
        #expect(summary.records == 3 && summary.quarantined == 0 && summary.damaged == nil)
        #expect(receiver.rows[0].origin.sourceName == "Health" && receiver.rows[0].start == "2015-07-18T14:16:49Z")
        #expect(receiver.rows[0].flags == .userEntered && receiver.rows[0].metadata == #"{"HKWasUserEntered":"1"}"#)
        #expect(
            receiver.rows[1].value == 75 && receiver.rows[1].payload == #"{"average":75,"maximum":90,"minimum":60}"#)
        #expect(receiver.rows[1].metadata == #"{"recordCount":"3"}"#)
        #expect(
            receiver.rows[2].value == 1 && receiver.rows[2].unit.isEmpty
                && receiver.rows[2].metadata == #"{"sessionId":"p1"}"#)
    }

    /// XML is case-sensitive. Anything that only looks like a record isn't a sample, and the reason explains why.
    @Test func anElementOfAnotherNameIsNoRecord() throws {
        let category = steps().replacing(
            "HKQuantityTypeIdentifierStepCount", with: "HKCategoryTypeIdentifierSleepAnalysis")
        let (receiver, _) = try read(
            export(
                [
                    steps("1").replacing("<Record", with: "<record"), category.replacing("<Record", with: "<RECORD"),
                    #"<workout workoutActivityType="x"/>"#, steps("2").replacing("<Record", with: "<Reading"),
                    steps("3"),
                ].joined(separator: "\n")))
        #expect(receiver.rows.map(\.value) == [3])
        let name = "the element's name isn't written as exports write it: upper and lower case count"
        #expect(
            receiver.quarantine.map(\.reason) == [
                name, name, name, "the element isn't known, and its type is one for a Record",
            ])
    }

    @Test func aBrokenDocumentTypeIsNoObstacle() throws {
        let (receiver, summary) = try read(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE HealthData [
            <!-- an apostrophe's comment, with <HealthData locale="x"> in it -->
            <!ELEMENT HealthData (ExportDate,Me,(Record)*)>
            <!ATTLIST HealthData
              locale CDATA #REQUIRED
            >
            <!ELEMENT Record EMPTY
            <!ATTLIST Record
              type CDATA #REQUIRED
            ]>
            <HealthData locale="de_DE">
            \(steps())
            </HealthData>
            """)
        #expect(summary.records == 1 && summary.damaged == nil)
        #expect(receiver.rows.first?.line == 13 && receiver.info?.locale == "de_DE")
    }

    @Test func charactersThatXMLForbidsAreReplacedAndCounted() throws {
        let bytes = Array(
            export(steps(more: " device=\"a\u{0B}b\u{0C}c\"") + "\n" + steps(more: " device=\"d&#11;e\"")).utf8)
        let (receiver, summary) = try read(bytes: bytes)
        #expect(summary.records == 2 && summary.damaged == nil && summary.charactersReplaced == 3)
        #expect(receiver.rows.map(\.origin.device) == ["a b c", "d?e"])
    }

    @Test func charactersAcrossBlocksStayWhole() throws {
        // A block is 256 KiB; 300 three-byte characters cross its end whatever their alignment.
        for shift in 0..<3 {
            let fill = String(repeating: " ", count: 262_144 - 800 + shift)
            let name = String(repeating: "’", count: 300)
            let (receiver, summary) = try read(export(fill + steps(more: " device=\"\(name)\"")))
            #expect(receiver.rows.first?.origin.device == name && summary.charactersReplaced == 0)
        }
    }

    @Test func attributesComeInAnyOrder() throws {
        let (receiver, _) = try read(
            export(
                #"<Record value="7" endDate="2025-03-30 08:15:00 +0200" startDate="2025-03-30 08:15:00 +0200" sourceName="P" unit="count" type="HKQuantityTypeIdentifierStepCount"/>"#
            ))
        #expect(receiver.rows.first?.value == 7 && receiver.rows.first?.origin.sourceName == "P")
    }

    @Test func aTagOverSeveralLinesBeginsAtItsFirst() throws {
        let (receiver, _) = try read(export(steps().replacing(" unit", with: "\n unit") + "\n" + steps("x")))
        #expect(receiver.rows.first?.line == 4)
        #expect(receiver.quarantine.first?.line == 6)
    }

    @Test func ringSummariesWithoutADayAreLeftOut() throws {
        let days = ["1969-12-30", "1969-12-31", "2025-03-30"].map {
            #"<ActivitySummary dateComponents="\#($0)" activeEnergyBurned="418.4" activeEnergyBurnedUnit="kJ" appleExerciseTime="31" appleStandHours="12"/>"#
        }
        let (receiver, summary) = try read(export(days.joined(separator: "\n")))
        #expect(summary.activitySummaries == 1 && summary.activitySummariesWithoutDay == 2 && summary.quarantined == 0)
        #expect(receiver.summaries.map(\.date) == ["2025-03-30"])
        let payload = try Value(json: Array((receiver.summaries.first?.payload ?? "").utf8))
        #expect(abs((payload["activeEnergyBurned"].double ?? 0) - 100) < 1e-9)
        #expect(payload["appleExerciseTime"] == 31 && payload["appleStandHours"] == 12)
    }

    @Test(arguments: [
        // The wall-clock time, which is an hour behind the offset in the file's dates.
        ["00:20:37,80", "00:20:38,94"], ["12:20:37.80 AM", "12:20:38.94 AM"], ["0.20.37,80", "0.20.38,94"],
        ["1:20:37.80\u{202F}AM", "1:20:38.94\u{202F}AM"], ["٠٠:٢٠:٣٧٫٨٠", "٠٠:٢٠:٣٨٫٩٤"],
        ["上午12:20:37.80", "上午12:20:38.94"],
    ])
    func beatsCountFromTheStart(times: [String]) throws {
        let (receiver, _) = try read(export(variability(start: "2021-01-01 01:20:29 +0200", times)))
        #expect(receiver.rows.first?.payload == #"{"beats":[[61,8.8],[60,9.94]]}"#)
    }

    @Test(arguments: [
        ("2021-01-01 23:59:58 +0200", ["23:59:59,50", "00:00:00,25"], "[[61,1.5],[60,2.25]]"),
        ("2021-01-01 12:59:58 +0200", ["12:59:59.50 PM", "1:00:00.25 PM"], "[[61,1.5],[60,2.25]]"),
        ("2021-01-01 12:59:58 +0200", ["soon", "12:59:59.50"], "[[61,null],[60,1.5]]"),
        ("2021-01-01 12:00:00 +0545", ["6:15:04.00", "6:15:03.00"], "[[61,4],[60,3]]"),
    ])
    func beatsPassMidnightAndNoon(start: String, times: [String], beats: String) throws {
        let (receiver, _) = try read(export(variability(start: start, times)))
        #expect(receiver.rows.first?.payload == #"{"beats":\#(beats)}"#)
    }

    private func variability(start: String, _ times: [String]) -> String {
        let beats = zip(["61", "60"], times).map { #"<InstantaneousBeatsPerMinute bpm="\#($0)" time="\#($1)"/>"# }
        return """
            <Record type="HKQuantityTypeIdentifierHeartRateVariabilitySDNN" unit="ms" value="41.5" startDate="\(start)" endDate="\(start)">
            <HeartRateVariabilityMetadataList>\(beats.joined())</HeartRateVariabilityMetadataList>
            </Record>
            """
    }

    @Test func elementsOfLaterVersionsAreKeptWhole() throws {
        let (receiver, summary) = try read(
            export(
                """
                <Audiogram type="HKDataTypeIdentifierAudiogram" sourceName="Ears" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:20:00 +0200">
                 <MetadataEntry key="k" value="v"/>
                 <SensitivityPoint frequencyValue="1000" frequencyUnit="Hz" leftEarValue="20" leftEarUnit="dBHL"/>
                </Audiogram>
                <VisionPrescription type="HKVisionPrescriptionTypeGlasses" dateIssued="2025-03-01 00:00:00 +0100" brand="B"/>
                """))
        #expect(summary.otherSamples == 2 && summary.quarantined == 0 && receiver.rows.count == 2)
        #expect(receiver.rows[0].metadata == #"{"k":"v"}"# && receiver.rows[0].value.isNaN)
        #expect(
            receiver.rows[0].payload
                == #"{"children":[{"element":"SensitivityPoint","frequencyUnit":"Hz","frequencyValue":"1000","leftEarUnit":"dBHL","leftEarValue":"20"}],"element":"Audiogram"}"#
        )
        #expect(
            receiver.rows[1].payload
                == #"{"brand":"B","dateIssued":"2025-03-01 00:00:00 +0100","element":"VisionPrescription","statedType":"HKVisionPrescriptionTypeGlasses"}"#
        )
        #expect(receiver.rows.map(\.type) == ["HKDataTypeIdentifierAudiogram", "HKVisionPrescriptionTypeIdentifier"])
        #expect(receiver.rows[1].start == "2025-02-28T23:00:00Z")
    }

    @Test func correlationsNameTheirPartsAndFlagThem() throws {
        let part =
            #" sourceName="H" unit="mmHg" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200" value="118"/>"#
        let record = #"<Record type="HKQuantityTypeIdentifierBloodPressureSystolic""# + part
        let (receiver, summary) = try read(
            export(
                record + "\n"
                    + #"<Correlation type="HKCorrelationTypeIdentifierBloodPressure" sourceName="H" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200">"#
                    + #"<MetadataEntry key="HKWasUserEntered" value="1"/>"# + record
                    + #"<MetadataEntry key="k" value="v"/></Correlation>"#))
        #expect(summary.records == 1 && summary.correlationChildren == 1 && summary.correlations == 1)
        #expect(receiver.rows.map(\.flags) == [[], .correlationChild, .userEntered])
        let correlation = try #require(receiver.rows.last)
        #expect(correlation.type == "HKCorrelationTypeIdentifierBloodPressure" && correlation.value.isNaN)
        #expect(correlation.metadata == #"{"HKWasUserEntered":"1","k":"v"}"# && receiver.rows[1].metadata.isEmpty)
        let parts = try Value(json: Array(correlation.payload.utf8))["parts"].array
        #expect(parts?.count == 1 && parts?.first?["value"] == 118 && parts?.first?["unit"] == "mmHg")
    }
}
