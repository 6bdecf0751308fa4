import GenericStage
import HealthModel
import Testing

/// Doses of medications: only those that were taken are doses.
@Suite struct DosesTests {
    private static let dose = "HKMedicationDoseEventTypeIdentifierMedicationDoseEvent"

    private func figure(_ payloads: [String]) throws -> Value? {
        var day = try DayBuilder()
        for (minute, payload) in payloads.enumerated() {
            try day.add(Self.dose, "2025-06-01T08:0\(minute):00+02:00", nil, 1, payload: payload)
        }
        return try day.compute(GenericHandler()).figures["other"]?[Self.dose]
    }

    @Test func aSkippedDoseIsntADose() throws {
        #expect(try figure([#"{"status":"Taken"}"#, #"{"status":"Skipped"}"#]) == ["count": 1, "skipped": 1])
        #expect(try figure([#"{"status":"Skipped"}"#]) == ["count": 0, "skipped": 1])
        #expect(try figure([]) == nil)
    }

    /// HealthKit's words and numbers, an export's and an app's.
    @Test(arguments: [
        (#"{"status":"Not Interacted"}"#, "notInteracted"), (#"{"logStatus":"snoozed"}"#, "snoozed"),
        (#"{"logStatus":4}"#, "count"), (#"{"logStatus":"6"}"#, "notLogged"), (#"{"status":"Geschluckt"}"#, "unknown"),
        (#"{"logStatus":"HKMedicationDoseEventLogStatusTaken"}"#, "count"), ("", "unknown"),
        (#"{"status":"Notification Not Sent"}"#, "notificationNotSent"), (#"{"logStatus":7}"#, "unknown"),
    ])
    func eachCountsByItsStatus(_ payload: String, _ member: String) throws {
        var expected: [String: Value] = ["count": 0]
        expected[member] = 1
        #expect(try figure([payload]) == .object(expected))
    }
}
