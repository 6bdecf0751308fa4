import HealthModel
import HealthResources
import Testing

/// How each kind of sample and document is represented in FHIR.
@Suite struct ObservationTests {
    private let me = ResourceIdentifier(system: "urn:x-healthbus:user", value: "me")

    private func resource(
        _ sample: MadeSample, source: String = "Anna’s Watch", namesSources: Bool = false, givesIDs: Bool = false
    ) throws -> Value {
        var bytes: [UInt8] = []
        let observations = Observations(of: me, givesIDs: givesIDs, namesSources: namesSources)
        let page = SampleObservations(madePage([sample], source: source), of: observations)
        #expect(page.append(0, to: &bytes))
        return try Value(json: bytes)
    }

    @Test func aHeartRate() throws {
        let made = try resource(.init(type: "HKQuantityTypeIdentifierHeartRate", unit: "count/min", value: 61.5))
        let coding: Value = [
            ["system": "http://loinc.org", "code": "8867-4", "display": "Heart rate"],
            ["system": "http://snomed.info/sct", "code": "364075005", "display": "Heart rate"],
            [
                "system": "http://developer.apple.com/documentation/healthkit",
                "code": "HKQuantityTypeIdentifierHeartRate",
            ],
        ]
        let category: Value = [
            "system": "http://terminology.hl7.org/CodeSystem/observation-category", "code": "vital-signs",
        ]
        let identifier: Value = [
            "system": "urn:x-healthbus:sample", "value": "me/0195e621-9c60-8abc-8def-012345678900",
        ]
        let person: Value = ["system": "urn:x-healthbus:user", "value": "me"]
        let quantity: Value = [
            "value": 61.5, "unit": "count/min", "system": "http://unitsofmeasure.org", "code": "/min",
        ]
        let wanted: [String: Value] = [
            "resourceType": "Observation", "status": "final", "code": ["coding": coding],
            "identifier": [identifier], "category": [["coding": [category]]],
            "subject": ["type": "Patient", "identifier": person], "effectiveDateTime": "2025-03-30T08:15:00Z",
            "valueQuantity": quantity,
        ]
        #expect(made == .object(wanted))
    }

    /// HealthKit's fractions and metres become percentages and centimetres in FHIR, without rounding errors from the
    /// multiplication.
    @Test(
        arguments: [
            ("OxygenSaturation", "%", 0.285, 28.5, "%"), ("Height", "m", 1.77, 177, "cm"),
            ("BodyMassIndex", "count", 23.4, 23.4, "kg/m2"), ("StepCount", "count", 612, 612, "{steps}"),
            ("BodyTemperature", "degC", 36.6, 36.6, "Cel"), ("VO2Max", "mL/min·kg", 44.1, 44.1, "mL/min/kg"),
        ] as [(String, String, Double, Double, String)])
    func numbersHaveTheUnitThatFHIRWants(
        _ type: String, _ unit: String, _ value: Double, _ wanted: Double, _ code: String
    ) throws {
        let made = try resource(.init(type: "HKQuantityTypeIdentifier" + type, unit: unit, value: value))
        #expect(made["valueQuantity"]["value"].double == wanted)
        #expect(made["valueQuantity"]["code"].string == code)
    }

    /// In FHIR every digit claims to have been measured.
    @Test(
        arguments: [
            (37.00000000000001, 37), (99.08573400002975, 99.0857), (61.54, 61.54), (0.000123456789, 0.000123457),
            (1_234_567.8, 1_234_568), (9_007_199_254_740_992, 9_007_199_254_740_992), (-3.14159265, -3.14159), (0, 0),
            (999_999.6, 1_000_000),
        ] as [(Double, Double)])
    func numbersAreRounded(_ value: Double, _ wanted: Double) throws {
        for type in ["HKQuantityTypeIdentifierBodyTemperature", "HKQuantityTypeIdentifierOfTomorrow", "cups"] {
            let made = try resource(.init(type: type, unit: "degC", value: value))
            #expect(made["valueQuantity"]["value"].double == wanted)
        }
    }

    /// A meal has no value of its own; its parts are resources.
    @Test func aMealIsNoResource() {
        let sample = MadeSample(type: "HKCorrelationTypeIdentifierFood", unit: "", value: .nan)
        var bytes: [UInt8] = []
        let isAdded = SampleObservations(madePage([sample]), of: Observations(of: me)).append(0, to: &bytes)
        #expect(!isAdded && bytes.isEmpty)
    }

    /// A person's own event without a number says only that it happened.
    @Test func anOwnEventIsTrue() throws {
        let made = try resource(.init(type: "headache", unit: "", value: .nan))
        #expect(made["valueBoolean"] == true && made["dataAbsentReason"].isNull)
        let place = try resource(.init(type: HealthType.locationIdentifier, unit: "", value: .nan))
        #expect(place["valueBoolean"].isNull && !place["dataAbsentReason"].isNull)
    }

    @Test func aStretchOfTimeIsAPeriod() throws {
        let made = try resource(
            .init(type: "HKQuantityTypeIdentifierStepCount", unit: "count", value: 9, minutes: 10))
        #expect(
            made["effectivePeriod"] == ["start": "2025-03-30T08:15:00Z", "end": "2025-03-30T08:25:00Z"])
        #expect(made["effectiveDateTime"].isNull)
    }

    @Test func aCategoryHasHealthKitsName() throws {
        let asleep = try resource(.init(type: "HKCategoryTypeIdentifierSleepAnalysis", unit: "", value: 4, minutes: 3))
        #expect(
            asleep["valueCodeableConcept"]["coding"].array?.first?["code"]
                == "HKCategoryValueSleepAnalysisAsleepDeep")
        let newer = try resource(.init(type: "HKCategoryTypeIdentifierSleepAnalysis", unit: "", value: 77))
        #expect(newer["valueInteger"] == 77)
    }

    /// Anything without a public code is still delivered.
    @Test func anUnknownTypeHasItsNameAndItsUnit() throws {
        let made = try resource(.init(type: "HKQuantityTypeIdentifierOf  Tomorrow", unit: "furlong", value: 3))
        let coding: Value = [
            "system": "http://developer.apple.com/documentation/healthkit",
            "code": "HKQuantityTypeIdentifierOf Tomorrow",
        ]
        #expect(made["code"]["coding"] == [coding])
        #expect(made["valueQuantity"] == ["value": 3, "unit": "furlong"])
        #expect(made["category"].isNull)
    }

    @Test func withoutANumberItSaysSo() throws {
        let quantity = try resource(.init(type: "HKQuantityTypeIdentifierHeartRate", unit: "count/min", value: .nan))
        #expect(quantity["dataAbsentReason"]["coding"].array?.first?["code"] == "unknown")
        #expect(quantity["valueQuantity"].isNull)
        let other = try resource(.init(type: "HKDataTypeIdentifierHeartbeatSeries", unit: "", value: .nan))
        #expect(other["dataAbsentReason"]["coding"].array?.first?["code"] == "not-applicable")
    }

    /// Only Apple's names belong to Apple's code system, and only HealthKit's percentages are fractions.
    @Test func anOwnTypeIsInOurSystem() throws {
        let made = try resource(.init(type: "humidity", unit: "%", value: 45))
        #expect(made["code"]["coding"] == [["system": "urn:x-healthbus:type", "code": "humidity"]])
        #expect(made["valueQuantity"]["value"] == 45)
    }

    @Test func anIDOfOursIsThatOfItsIdentifier() throws {
        let made = try resource(
            .init(type: "HKQuantityTypeIdentifierHeartRate", unit: "count/min", value: 60), givesIDs: true)
        let own = Observations(of: me).identifier(.sample, "0195e621-9c60-8abc-8def-012345678900")
        #expect(made["id"].string == Observations.id(own))
        let day = try #require(Observations(of: me, figures: figures, givesIDs: true).day(self.day, id: "2025-03-30"))
        #expect(day["id"].string == Observations.id(Observations(of: me).identifier(.day, "2025-03-30")))
    }

    @Test(arguments: [("Anna’s\u{A0}Watch", "Anna’s Watch" as String?), (" \u{A0}", nil), ("", nil)])
    func sourcesAreVisibleText(_ name: String, _ wanted: String?) throws {
        let made = try resource(
            .init(type: "HKQuantityTypeIdentifierHeartRate", unit: "count/min", value: 60), source: name,
            namesSources: true)
        #expect(made["device"]["display"].string == wanted)
    }

    // MARK: Documents

    /// The sample in the form that a reader gets, with whole numbers as integers.
    private func read(_ resource: Value) throws -> Value { try Value(json: Array(resource.json().utf8)) }

    private let day: Value = [
        "date": "2025-03-30", "final": true, "revision": 1, "steps": 7012.5, "heartRate": ["resting": 58],
        "heightMeters": 1.77, "hydration": .null, "naps": [],
    ]
    private let figures = [
        ResourceFigure(path: ["steps"], unit: "count"),
        ResourceFigure(path: ["heartRate", "resting"], unit: "count/min"),
        ResourceFigure(path: ["heightMeters"], unit: "m"), ResourceFigure(path: ["hydration"], unit: "mL"),
        ResourceFigure(path: ["naps"], unit: ""),
    ]

    @Test func aDayHasAComponentForEachFigure() throws {
        let made = try read(#require(Observations(of: me, figures: figures).day(day, id: "2025-03-30")))
        #expect(made["identifier"] == [["system": "urn:x-healthbus:day", "value": "me/2025-03-30"]])
        #expect(made["effectiveDateTime"] == "2025-03-30")
        let components = try #require(made["component"].array)
        let codes = components.map { $0["code"]["coding"].array?.last?["code"].string }
        #expect(codes == ["steps", "heartRate.resting", "heightMeters"])
        #expect(components.first?["code"]["coding"].array?.first?["code"] == "41950-7")
        #expect(components.last?["valueQuantity"]["value"] == 177 && components.last?["valueQuantity"]["code"] == "cm")
    }

    /// What a figure's name says: the unit alone doesn't distinguish a fraction from a percentage.
    @Test func onlyFractionsBecomePercent() throws {
        let figures = [
            ResourceFigure(path: ["fatFraction"], unit: "%", isFraction: true),
            ResourceFigure(path: ["humidityPercent"], unit: "%"),
        ]
        let made = try read(
            #require(
                Observations(of: me, figures: figures).day(
                    ["fatFraction": 0.25, "humidityPercent": 45], id: "2025-03-30")))
        #expect(made["component"].array?.map { $0["valueQuantity"]["value"].double } == [25, 45])
    }

    /// The revision is 1 once a day is final for the first time.
    @Test(arguments: [(false, 0, "preliminary"), (false, 3, "preliminary"), (true, 1, "final"), (true, 2, "amended")])
    func aDaysStatus(_ isFinal: Bool, _ revision: Int, _ status: String) {
        var members = day.object ?? [:]
        members["final"] = .bool(isFinal)
        members["revision"] = .integer(Int64(revision))
        let made = Observations(of: me, figures: figures).day(.object(members), id: "2025-03-30")
        #expect(made?["status"].string == status)
    }

    @Test func aDayWithoutFiguresIsNoResource() {
        let made = Observations(of: me, figures: figures).day(["date": "2025-03-30", "naps": [], "cups": 3], id: "x")
        #expect(made == nil)
    }

    @Test func aNight() throws {
        let night: Value = [
            "id": "n", "start": "2025-03-29T22:00:00Z", "end": "2025-03-30T05:30:00Z", "asleepMinutes": 411.5,
            "deepMinutes": 62, "awakeMinutes": .null, "efficiency": 0.914, "source": "Watch",
        ]
        let made = try read(Observations(of: me).night(night, id: "n"))
        #expect(made["code"]["coding"].array?.first?["code"] == "93832-4")
        #expect(made["valueQuantity"]["value"] == 411.5 && made["valueQuantity"]["code"] == "min")
        #expect(made["effectivePeriod"]["end"] == "2025-03-30T05:30:00Z")
        let components = try #require(made["component"].array)
        #expect(components.map { $0["valueQuantity"]["value"].double } == [62, 91.4])
        #expect(made["device"].isNull)
        #expect(Observations(of: me, namesSources: true).night(night, id: "n")["device"] == ["display": "Watch"])
        let unknown = Observations(of: me).night(["id": "n", "start": "2025-03-29T22:00:00Z"], id: "n")
        #expect(unknown["dataAbsentReason"]["coding"].array?.first?["code"] == "unknown")
        #expect(unknown["component"].isNull)
    }

    @Test func aWorkout() throws {
        let workout: Value = [
            "id": "w", "type": "running", "activityIdentifier": "HKWorkoutActivityTypeRunning",
            "startDate": "2025-03-30T08:00:00Z", "endDate": "2025-03-30T08:50:00Z", "duration": 2990,
            "distance": 10_040, "heartRate": ["average": 151, "minimum": .null, "maximum": 171],
        ]
        let made = try read(Observations(of: me).workout(workout, id: "w"))
        #expect(made["code"]["coding"].array?.first?["code"] == "73985-4")
        #expect(made["valueCodeableConcept"]["text"] == "running")
        let components = try #require(made["component"].array)
        let codes = components.map { $0["code"]["coding"].array?.first?["code"].string }
        #expect(codes == ["55411-3", "workout.distance", "workout.heartRate.average", "workout.heartRate.maximum"])
        #expect(components.first?["valueQuantity"]["value"] == 49.8333)
        let other = Observations(of: me).workout(["id": "w", "activityIdentifier": "Curling with\u{A0}Bo"], id: "w")
        #expect(other["valueCodeableConcept"] == ["text": "Curling with Bo"])
    }
}
