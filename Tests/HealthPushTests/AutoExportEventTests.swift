import HealthModel
import HealthPush
import Testing

struct AutoExportEventTests {
    private let times = #""start":"2026-09-01 07:00:00 +0200","end":"2026-09-01 07:30:00 +0200""#

    private func one(_ part: String, _ members: String) throws -> PushedRow {
        let changes = try pushed(#""\#(part)":[{\#(times),\#(members)}]"#)
        #expect(changes.items == 1 && changes.quarantined.isEmpty)
        return try #require(changes.rows.first)
    }

    @Test(arguments: [
        ("Headache", "Mild", "Headache", 2), ("Chest Tightness or Pain", "Severe", "ChestTightnessOrPain", 4),
        ("Rapid, Pounding, or Fluttering Heartbeat", "Not Present", "RapidPoundingOrFlutteringHeartbeat", 1),
        ("Fatigue", "Present", "Fatigue", 0), ("Appetite Changes", "Decreased", "AppetiteChanges", 2),
        ("Mood Changes", "Present", "MoodChanges", 0), ("Mood Changes", "Not Present", "MoodChanges", 1),
        ("Body and Muscle Ache", "Moderate", "GeneralizedBodyAche", 3),
        ("Lower Back Pain", "Unspecified", "LowerBackPain", 0),
    ])
    func aSymptomIsACategory(name: String, severity: String, type: String, raw: Double) throws {
        let row = try one(
            "symptoms", #""name":"\#(name)","severity":"\#(severity)","userEntered":true,"source":"Health""#)
        #expect(row.type == "HKCategoryTypeIdentifier" + type && row.value == raw && row.source == "Health")
        #expect(row.start == "2026-09-01T05:00:00Z" && row.end == "2026-09-01T05:30:00Z" && row.payload.isEmpty)
        #expect(row.flags == RecordFlags.userEntered.rawValue && row.metadata == #"{"HKWasUserEntered":"1"}"#)
    }

    @Test(arguments: [
        (
            "Menstrual Flow", #""value":"Heavy","isCycleStart":true"#, "MenstrualFlow", 4.0,
            #"{"HKMenstrualCycleStart":"1"}"#
        ),
        (
            "Menstrual Flow", #""value":"None","isCycleStart":false"#, "MenstrualFlow", 5,
            #"{"HKMenstrualCycleStart":"0"}"#
        ),
        ("Cervical Mucus Quality", #""value":"Egg White""#, "CervicalMucusQuality", 5, ""),
        ("Ovulation Test Result", #""value":"Luteinizing Hormone Surge""#, "OvulationTestResult", 2, ""),
        ("Pregnancy Test Result", #""value":"Negative""#, "PregnancyTestResult", 1, ""),
        ("Contraceptive", #""value":"Oral""#, "Contraceptive", 6, ""),
        ("Spotting", "\"x\":null", "IntermenstrualBleeding", 0, ""),
        (
            "Sexual Activity", #""value":"Protection Used""#, "SexualActivity", 0,
            #"{"HKSexualActivityProtectionUsed":"1"}"#
        ),
        ("Lactation", "\"value\":null", "Lactation", 0, ""), ("Menstrual Flow", #""value":3"#, "MenstrualFlow", 3, ""),
    ])
    func anEntryOfTheCycleIsACategory(
        name: String, members: String, type: String, raw: Double, metadata: String
    ) throws {
        let row = try one("cycleTracking", #""name":"\#(name)",\#(members)"#)
        #expect(row.type == "HKCategoryTypeIdentifier" + type && row.value == raw && row.metadata == metadata)
    }

    @Test func namesAndValuesOfAnotherLanguageAreKeptApart() throws {
        let changes = try pushed(
            #""symptoms":[{\#(times),"name":"Fatiga","severity":"Mild"},{\#(times),"name":"Fatigue","severity":"Leve"}],"#
                + #""cycleTracking":[{\#(times),"name":"Menstrual Flow","value":99},{\#(times)}]"#)
        #expect(changes.rows.isEmpty && changes.items == 4 && changes.quarantined.map(\.line) == [1, 2, 3, 4])
        #expect(changes.reasons.prefix(3).allSatisfy { $0.contains("another language") })
        // No reason reveals anything about a person or anything they wrote.
        #expect(changes.reasons.allSatisfy { !$0.contains("Fatig") && !$0.contains("Leve") && !$0.contains("99") })
    }

    @Test func anElectrocardiogramKeepsItsVoltagesAsAColumn() throws {
        let row = try one(
            "ecg",
            #"""
            "classification":"Sinus Rhythm","averageHeartRate":61,"samplingFrequency":512,"numberOfVoltageMeasurements":3,
            "voltageMeasurements":[{"date":1188745353.99,"voltage":23.084741592407227,"units":"mcV"},
            {"date":1188745353.994,"voltage":-5,"units":"mcV"},{"voltage":0.001,"units":"mV"}],"source":"ECG"
            """#)
        #expect(row.type == "HKDataTypeIdentifierElectrocardiogram" && row.value == 61 && row.unit == "count/min")
        #expect(row.body["microvolts"] == [23.085, -5, 1] && row.body["voltageMeasurements"].isNull)
        #expect(row.body["classification"] == "Sinus Rhythm" && row.body["averageHeartRate"] == 61)
    }

    @Test(arguments: [("0", Double?.none), ("null", nil), (#"{"qty":61,"units":"bpm"}"#, 61), ("\"58.5\"", 58.5)])
    func anElectrocardiogramsValueIsItsAverage(rate: String, value: Double?) throws {
        #expect(try one("ecg", #""averageHeartRate":\#(rate)"#).value == value)
    }

    @Test(arguments: [
        (#""heartNotification":"low_heart_rate_notification","threshold":45"#, "LowHeartRateEvent"),
        (#""heartNotification":"high_heart_rate_notification","threshold":120"#, "HighHeartRateEvent"),
        (#""heartNotification":"irregular_rhythm_notification""#, "IrregularHeartRhythmEvent"),
        (#""threshold":100,"heartRate":[{"hr":124,"units":"bpm"}]"#, "HighHeartRateEvent"),
        (#""threshold":50,"heartRate":[{"hr":44,"units":"bpm"}]"#, "LowHeartRateEvent"),
        (#""heartRate":[{"hr":80,"units":"bpm"}]"#, "IrregularHeartRhythmEvent"),
    ])
    func aHeartRateNotificationIsItsEvent(members: String, type: String) throws {
        let row = try one(
            "heartRateNotifications", #"\#(members),"source":{"name":"Anna’s Apple Watch","identifier":"x"}"#)
        #expect(row.type == "HKCategoryTypeIdentifier" + type && row.value == 0 && row.source == "Anna’s Apple Watch")
        #expect(members.contains("threshold") == row.metadata.contains("HKHeartRateEventThreshold"))
        #expect(members.contains(#""heartRate":"#) == (row.body["heartRate"].array?.count == 1))
    }

    @Test func aStateOfMindKeepsAllItsMembers() throws {
        let row = try one(
            "stateOfMind",
            #""id":"0B1C2D3E-4F50-6172-8394-A5B6C7D8E9F0","kind":"daily_mood","labels":["calm"],"associations":[],"#
                + #""valence":0.5,"valenceClassification":"slightly_pleasant","metadata":{"HKTimeZone":"Asia/Tokyo"}"#)
        #expect(row.type == "HKDataTypeIdentifierStateOfMind" && row.uuid == "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0")
        #expect(row.metadata == #"{"HKTimeZone":"Asia/Tokyo"}"# && row.body["valence"] == 0.5)
        #expect(row.body["kind"] == "daily_mood" && row.body["labels"] == ["calm"])
    }

    @Test func aMedicationIsADoseWhenItWasLoggedOrDue() throws {
        let taken = try one(
            "medications",
            #""displayText":"A","status":"Taken","dosage":2,"codings":[],"scheduledDate":"2026-09-01 06:00:00 +0200""#)
        #expect(taken.type == "HKMedicationDoseEventTypeIdentifierMedicationDoseEvent" && taken.value == 2)
        #expect(
            taken.start == "2026-09-01T05:00:00Z" && taken.body["status"] == "Taken" && taken.body["displayText"] == "A"
        )
        let skipped = try pushed(
            #""medications":[{"displayText":"A","status":"Skipped","scheduledDate":"2026-09-01 06:00:00 +0200"}]"#)
        #expect(skipped.rows[0].start == "2026-09-01T04:00:00Z" && skipped.rows[0].value == nil)
        #expect(skipped.rows[0].end == skipped.rows[0].start && !skipped.rows[0].body["scheduledDate"].isNull)
    }
}
