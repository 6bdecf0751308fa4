import HealthModel

/// A payload that the importer keeps, and what becomes of it: a row of the table in `docs/destinations.md`.
struct PayloadCase {
    /// The row's cells.
    let name: String
    let fhir: String
    let openMHealth: String
    let day: String

    let way: Way
    /// A member of the payload, by which all of it is recognized; with dots for members of members.
    let member: String
    /// What the FHIR resource's JSON contains; nil if there is no resource.
    let says: [String]?
    /// What it doesn't contain.
    var hides: [String] = []
    /// The schema of the data point; nil if there is none.
    var schema: String?
    /// The figure under `other` for the type; nil if another handler computes the day.
    var figure: Value?

    private static let times = #"startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200""#
    private static let autoTimes = #""start":"2025-03-30 08:15:00 +0200","end":"2025-03-30 08:15:00 +0200""#
    private static let quantity = "HKQuantityTypeIdentifier"

    static let all: [PayloadCase] = [
        PayloadCase(
            name: "a dose of a medication",
            fhir:
                "`final` with its dosage if it was taken; `cancelled` if it was skipped; else `registered` or `unknown`, without one. Its status, the medication's name, when it was due. Not the medication's codes",
            openMHealth: "", day: "`count` of those taken; the others by status",
            way: .autoExport(
                #""medications":[{\#(autoTimes),"displayText":"Pill","status":"Skipped","dosage":1,"codings":["c1"]}]"#),
            member: "displayText", says: ["cancelled", "not-performed", "LogStatusSkipped", "\"Pill\""],
            hides: ["valueQuantity", "c1"], figure: ["count": 0, "skipped": 1]),
        PayloadCase(
            name: "a state of mind", fhir: "its valence; its kind, labels and associations in words",
            openMHealth: "", day: "`count`",
            way: .autoExport(
                #""stateOfMind":[{\#(autoTimes),"kind":"daily_mood","labels":["calm"],"associations":["work"],"valence":0.5}]"#
            ),
            member: "valence", says: ["\"value\":0.5", "calm", "work", "daily_mood"], figure: ["count": 1]),
        PayloadCase(
            name: "an ECG",
            fhir:
                "its classification, average heart rate, symptoms, sampling frequency and number of measurements. Not the measurements",
            openMHealth: "", day: "`count`, or its average heart rates",
            way: .autoExport(
                #""ecg":[{\#(autoTimes),"classification":"Atrial Fibrillation","averageHeartRate":62,"samplingFrequency":512,"numberOfVoltageMeasurements":2,"voltageMeasurements":[{"voltage":12.25,"units":"mcV"},{"voltage":3,"units":"mcV"}]}]"#
            ),
            member: "microvolts",
            says: ["ClassificationAtrialFibrillation", "\"value\":62", "\"value\":512", "measurements"],
            hides: ["12.25"],
            figure: ["average": 62.0, "count": 1, "max": 62.0, "min": 62.0, "mostRecent": 62.0, "unit": "count/min"]),
        PayloadCase(
            name: "a blood pressure's two values", fhir: "one panel with two components",
            openMHealth: "`blood-pressure:4.0`", day: "`count`, beside the figures of its two samples",
            way: .autoExport(
                #""metrics":[{"name":"blood_pressure","units":"mmHg","data":[{"date":"2025-03-30 08:15:07 +0200","systolic":121,"diastolic":79}]}]"#
            ),
            member: "parts", says: ["85354-9", "8480-6", "8462-4", "\"value\":121", "\"value\":79"],
            schema: "blood-pressure",
            figure: ["count": 1]),
        PayloadCase(
            name: "a meal's parts", fhir: "no resource, but one for each part", openMHealth: "",
            day: "`count`, beside the figures of its parts",
            way: .samples(
                #"{"type":"HKCorrelationTypeIdentifierFood","start":"2025-03-30T06:15:00Z","parts":[{"type":"\#(quantity)DietaryProtein","value":9,"unit":"g"}]}"#
            ),
            member: "parts", says: nil, figure: ["count": 1]),
        PayloadCase(
            name: "the beats of a heart rate variability", fhir: "the variability, without beats", openMHealth: "",
            day: "the variability",
            way: .export(
                #"<Record type="\#(quantity)HeartRateVariabilitySDNN" unit="ms" value="41" \#(times)><HeartRateVariabilityMetadataList><InstantaneousBeatsPerMinute bpm="63" time="8:15:01.04"/></HeartRateVariabilityMetadataList></Record>"#
            ),
            member: "beats", says: ["\"value\":41"], hides: ["beats", "63"]),
        PayloadCase(
            name: "the lowest and highest value of a mean", fhir: "the mean alone",
            openMHealth: "the mean alone, if its type has a schema", day: "`min` and `max` of a heart rate",
            way: .export(
                #"<Record type="\#(quantity)HeartRate" unit="count/min" average="71" min="58" max="93" \#(times)/>"#
            ),
            member: "maximum", says: ["\"value\":71"], hides: ["58", "93"], schema: "heart-rate"),
        PayloadCase(
            name: "a category's value that isn't known", fhir: "its text", openMHealth: "", day: "`count`",
            way: .export(
                #"<Record type="HKCategoryTypeIdentifierHeadache" value="HKCategoryValueOfTomorrow" \#(times)/>"#),
            member: "value", says: ["\"text\":\"HKCategoryValueOfTomorrow\""], figure: ["count": 1]),
        PayloadCase(
            name: "the heart rates of a notification", fhir: "the notification, without rates", openMHealth: "",
            day: "`count`",
            way: .autoExport(
                #""heartRateNotifications":[{\#(autoTimes),"heartNotification":"High","threshold":120,"heartRate":[{"hr":131.5,"units":"bpm"}]}]"#
            ),
            member: "heartRate", says: ["HighHeartRateEvent"], hides: ["131.5"], figure: ["count": 1]),
        PayloadCase(
            name: "a night's hours, from an app", fhir: "in the resource of the night", openMHealth: "in the night's",
            day: "the night",
            way: .autoExport(
                #""metrics":[{"name":"sleep_analysis","units":"hr","data":[{"sleepStart":"2025-03-30 00:15:00 +0200","sleepEnd":"2025-03-30 08:15:00 +0200","core":5.5,"deep":1,"rem":1}]}]"#
            ),
            member: "coreSeconds", says: ["not-applicable"], hides: ["19800"]),
        PayloadCase(
            name: "a place's coordinates", fhir: "that the place was recorded, without coordinates", openMHealth: "",
            day: "visits to [places](places.md)",
            way: .samples(
                #"{"type":"CLLocation","start":"2025-03-30T06:15:00Z","location":{"latitude":52.5,"longitude":13.25}}"#),
            member: "latitude", says: ["not-applicable"], hides: ["52.5", "13.25"]),
        PayloadCase(
            name: "an audiogram, a prescription, a clinical record, an assessment, a medication",
            fhir: "that there is one, and when", openMHealth: "", day: "`count`",
            way: .export(
                #"<Audiogram type="HKDataTypeIdentifierAudiogram" \#(times)><SensitivityPoint frequencyValue="500" leftEarValue="12"/></Audiogram>"#
            ),
            member: "children", says: ["HKDataTypeIdentifierAudiogram", "not-applicable"], hides: ["500"],
            figure: ["count": 1]),
        PayloadCase(
            name: "whatever else an app sent with a sample", fhir: "nothing", openMHealth: "", day: "nothing",
            way: .autoExport(
                #""metrics":[{"name":"vo2_max","units":"ml/(kg·min)","data":[{"date":"2025-03-30 08:15:07 +0200","qty":44,"mystery":"m1"}]}]"#
            ),
            member: "mystery", says: ["\"value\":44"], hides: ["m1"],
            figure: [
                "average": 44.0, "min": 44.0, "max": 44.0, "mostRecent": 44.0, "count": 1, "unit": "mL/min·kg",
            ]),
    ]
}
