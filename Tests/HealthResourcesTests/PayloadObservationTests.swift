import HealthModel
import HealthResources
import Testing

/// What FHIR says of samples whose meaning is in their payload.
@Suite struct PayloadObservationTests {
    private func resource(
        _ type: String, _ payload: String, value: Double = .nan, unit: String = "", flags: SampleFlags = []
    ) throws -> Value? {
        var bytes: [UInt8] = []
        let me = ResourceIdentifier(system: "urn:x-healthbus:user", value: "me")
        let sample = MadeSample(type: type, unit: unit, value: value, flags: flags, payload: payload)
        let isAdded = SampleObservations(madePage([sample]), of: Observations(of: me)).append(0, to: &bytes)
        return isAdded ? try Value(json: bytes) : nil
    }

    /// The components under a name of ours or HealthKit's.
    private func components(_ resource: Value?, _ name: String) -> [Value] {
        (resource?["component"].array ?? []).filter { component in
            component["code"]["coding"].array?.contains { $0["code"].string == name } == true
        }
    }

    private func reason(_ value: Value?) -> String? {
        value?["dataAbsentReason"]["coding"].array?.first?["code"].string
    }

    /// Whoever adds up the values of final observations adds up what was taken.
    @Test(
        arguments: [
            ("Taken", "final", nil), ("Skipped", "cancelled", "not-performed"), ("Snoozed", "registered", "unknown"),
            ("Not Interacted", "registered", "unknown"), ("", "unknown", "unknown"),
        ] as [(String, String, String?)])
    func onlyADoseThatWasTakenHasAValue(_ reported: String, _ status: String, _ absent: String?) throws {
        let payload = #"{"status":"\#(reported)","displayText":"Pill","scheduledDate":"2025-03-30 08:00:00 +0200"}"#
        let made = try resource(HealthType.medicationDoseIdentifier, payload, value: 1)
        #expect(made?["status"].string == status && reason(made) == absent)
        #expect(made?["valueQuantity"]["value"].double == (absent == nil ? 1 : nil))
        let log = components(made, "logStatus").first?["valueCodeableConcept"]["coding"].array?.first?["code"].string
        #expect(log == (reported.isEmpty ? nil : "HKMedicationDoseEventLogStatus" + reported.filter { $0 != " " }))
        #expect(components(made, "medication").map { $0["valueCodeableConcept"]["text"] } == ["Pill"])
        #expect(components(made, "scheduledDate").map { $0["valueDateTime"] } == ["2025-03-30T06:00:00Z"])
    }

    @Test(arguments: [
        #"{"valence":0.4,"kind":"dailyMood","labels":["calm","happy"],"associations":["work"],"valenceClassification":"pleasant"}"#,
        #"{"element":"StateOfMind","valence":"0.4","kind":"dailyMood","valenceClassification":"pleasant","children":[{"element":"Label","name":"calm"},{"element":"Label","text":"happy"},{"element":"Association","name":"work"}]}"#,
    ])
    func aStateOfMindHasItsValenceAndItsWords(_ payload: String) throws {
        let made = try resource(HealthType.stateOfMindIdentifier, payload)
        #expect(made?["valueQuantity"]["value"] == 0.4 && made?["status"] == "final")
        func words(_ name: String) -> [String?] {
            components(made, name).map { $0["valueCodeableConcept"]["text"].string }
        }
        #expect(words("labels") == ["calm", "happy"] && words("associations") == ["work"])
        #expect(words("kind") == ["dailyMood"] && words("valenceClassification") == ["pleasant"])
        #expect(reason(try resource(HealthType.stateOfMindIdentifier, "{}")) == "unknown")
    }

    @Test(
        arguments: [
            (#"{"classification":"Sinusrhythmus","rhythm":"sinusRhythm","measurements":15000,"sampleRate":512}"#, 62),
            (
                #"{"classification":"Sinus Rhythm","averageHeartRate":62,"numberOfVoltageMeasurements":15000,"samplingFrequency":512}"#,
                nil
            ),
        ] as [(String, Double?)])
    func anECGHasItsVerdictAndItsRate(_ payload: String, _ value: Double?) throws {
        let made = try resource(HealthType.electrocardiogramIdentifier, payload, value: value ?? .nan)
        #expect(
            made?["valueCodeableConcept"]["coding"].array?.map { $0["code"] }
                == ["HKElectrocardiogramClassificationSinusRhythm"])
        #expect(made?["valueCodeableConcept"]["text"].string?.hasPrefix("Sinus") == true)
        func number(_ name: String) -> [Double?] { components(made, name).map { $0["valueQuantity"]["value"].double } }
        #expect(number("8867-4") == [62] && number("averageHeartRate") == [62])
        #expect(number("samplingFrequency") == [512] && number("measurements") == [15_000])
        #expect(made?["valueQuantity"].isNull == true)
    }

    /// A wrong verdict is worse than none.
    @Test func anUnknownVerdictHasNoCode() throws {
        let made = try resource(HealthType.electrocardiogramIdentifier, #"{"classification":"Rytm zatokowy"}"#)
        #expect(made?["valueCodeableConcept"] == ["text": "Rytm zatokowy"])
        #expect(reason(try resource(HealthType.electrocardiogramIdentifier, "")) == "unknown")
    }

    private static let pair = #"""
        {"parts":[{"type":"HKQuantityTypeIdentifierBloodPressureDiastolic","value":79,"unit":"mmHg"},
         {"type":"HKQuantityTypeIdentifierBloodPressureSystolic","value":121,"unit":"mmHg"}]}
        """#

    /// FHIR's profile: one panel with two components, in which a missing value has its reason.
    @Test func aBloodPressureIsOnePanel() throws {
        let made = try resource(HealthType.bloodPressureIdentifier, Self.pair)
        #expect(made?["code"]["coding"].array?.first?["code"] == "85354-9")
        #expect(made?["category"].array?.first?["coding"].array?.first?["code"] == "vital-signs")
        #expect(components(made, "8480-6").map { $0["valueQuantity"]["value"] } == [121])
        #expect(components(made, "8462-4").map { $0["valueQuantity"]["code"] } == ["mm[Hg]"])
        #expect(made?["component"].array?.count == 2 && made?["valueQuantity"].isNull == true)
        let half = try resource(HealthType.bloodPressureIdentifier, #"{"parts":[]}"#)
        #expect(half?["component"].array?.map { reason($0) } == ["unknown", "unknown"])
    }

    /// What the panel says isn't said again, but a sample of no pair is a resource.
    @Test func theTwoSamplesOfAPanelArentResources() throws {
        for type in HealthType.bloodPressureParts {
            #expect(try resource(type, "", value: 121, unit: "mmHg", flags: .part) == nil)
            #expect(try resource(type, "", value: 121, unit: "mmHg")?["valueQuantity"]["value"] == 121)
        }
        let meal = "HKQuantityTypeIdentifierDietaryEnergyConsumed"
        #expect(try resource(meal, "", value: 300, unit: "kcal", flags: .part) != nil)
    }

    @Test func anOpenMHealthBloodPressureIsOnePoint() throws {
        func point(_ type: String, _ payload: String) throws -> Value? {
            var bytes: [UInt8] = []
            let sample = MadeSample(type: type, unit: "mmHg", value: payload.isEmpty ? 121 : .nan, payload: payload)
            return OpenMHealthPage(madePage([sample]), user: "me").append(0, to: &bytes) ? try Value(json: bytes) : nil
        }
        let made = try point(HealthType.bloodPressureIdentifier, Self.pair)
        #expect(made?["header"]["schema_id"] == ["namespace": "omh", "name": "blood-pressure", "version": "4.0"])
        #expect(
            made?["body"] == [
                "systolic_blood_pressure": ["value": 121, "unit": "mmHg"],
                "diastolic_blood_pressure": ["value": 79, "unit": "mmHg"],
                "effective_time_frame": ["date_time": "2025-03-30T08:15:00Z"],
            ])
        #expect(try point(HealthType.bloodPressureIdentifier, #"{"parts":[]}"#) == nil)
        #expect(try point(HealthType.bloodPressureParts[0], "") == nil)
        #expect(OpenMHealthPage.has(HealthType.bloodPressureIdentifier))
    }
}
