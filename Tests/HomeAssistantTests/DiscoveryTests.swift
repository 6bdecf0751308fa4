import Configuration
import Foundation
import HealthModel
import HomeAssistantStage
import Testing

@Suite struct DiscoveryTests {
    private let discovery: Discovery

    /// The sensors for the figures of the default stack.
    init() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
        let catalog = try PluginCatalog(folder: root + "/plugins", programs: "/nowhere")
        let stack = try StackConfiguration(path: root + "/configs/home-assistant.json", catalog: catalog)
        discovery = Discovery(
            topics: MQTTTopics(base: "healthbus", discoveryPrefix: "homeassistant"),
            sensors: stack.handlers.map(\.manifest).figures.compactMap { FigureSensor($0) })
    }

    private func description(_ object: String) throws -> Value {
        let all = discovery.descriptions(of: "me")
        let text = try #require(all["homeassistant/sensor/healthbus/me--\(object)/config"], "\(all.keys.sorted())")
        return try Value(json: Array(text.utf8))
    }

    /// Doses, moods and the like are in an object, and a sensor is one number.
    @Test func whatPayloadsSayIsNoSensor() {
        let all = discovery.descriptions(of: "me").keys
        #expect(all.contains { $0.contains("--workouts/") } && !all.contains { $0.contains("--other") })
    }

    @Test(
        arguments: [
            ("steps", "Steps", nil, nil, "total"),
            ("distanceMeters", "Distance", "m", "distance", "total"),
            ("activeEnergyKilocalories", "Active energy", "kcal", "energy", "total"),
            ("exerciseMinutes", "Exercise", "min", "duration", "total"),
            ("bodyMassKilograms", "Body mass", "kg", "weight", "measurement"),
            ("heartRate_resting", "Resting heart rate", "bpm", nil, "measurement"),
            ("waterMilliliters", "Water", "mL", "volume", "total"),
            ("sleep_asleepMinutes", "Time asleep", "min", "duration", "measurement"),
            ("standMinutes", "Stand minutes", "min", "duration", "total"),
            ("standHours", "Stand hours", "h", nil, "measurement"),
            ("hrvSDNNMilliseconds", "HRV", "ms", "duration", "measurement"),
            ("workouts", "Workouts", nil, nil, "measurement"),
        ] as [(String, String, String?, String?, String)])
    func aSensorHasAPermittedClass(
        _ object: String, _ name: String, _ unit: String?, _ deviceClass: String?, _ stateClass: String
    ) throws {
        let today = try description(object)
        #expect(today["name"].string == name)
        #expect(today["unit_of_measurement"].string == unit)
        #expect(today["device_class"].string == deviceClass)
        #expect(today["state_class"].string == stateClass)
        // Home Assistant refuses a last-reset template for any other state class.
        #expect(today["last_reset_value_template"].isNull == (stateClass != "total"))
        #expect(today["availability_topic"] == "healthbus/status")
        let yesterday = try description(object + "--yesterday")
        // Without a unit, only a state class makes it a number for Home Assistant's pages.
        #expect(yesterday["state_class"].string == (unit == nil ? "measurement" : nil))
        #expect(yesterday["last_reset_value_template"].isNull)
        #expect(yesterday["unique_id"] != today["unique_id"] && yesterday["device"] == today["device"])
        #expect(yesterday["state_topic"] == "healthbus/me/yesterday" && today["state_topic"] == "healthbus/me/today")
    }

    @Test func noTwoSensorsHaveTheSameName() {
        #expect(Set(discovery.sensors.map(\.name)).count == discovery.sensors.count)
    }

    @Test func anIndexHasADigitAfterThePoint() throws {
        #expect(try description("bodyMassIndex")["suggested_display_precision"].int == 1)
        #expect(try description("steps")["suggested_display_precision"].int == 0)
    }

    @Test func listsAndObjectsHaveNoSensor() {
        let objects = Set(discovery.sensors.map(\.object))
        #expect(objects.isDisjoint(with: ["naps", "other", "places"]) && objects.contains("steps"))
    }

    @Test func aDayIsOneMessageWithNullForWhatIsMissing() throws {
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        let day = LocalDay(year: 2025, month: 3, day: 30)
        let summary: Value = [
            "steps": 8000, "bodyFatFraction": 0.29, "heartRate": ["resting": 55], "workouts": [[:], [:]],
            "final": true, "revision": 2, "zone": "Europe/Berlin",
        ]
        let state = try Value(json: Array(discovery.state(of: day, zones, summary).utf8))
        #expect(state["figures"]["steps"].double == 8000 && state["figures"]["bodyFatFraction"].double == 29)
        #expect(state["figures"]["heartRate_resting"].double == 55 && state["figures"]["workouts"].int == 2)
        #expect(state["figures"].object?["distanceMeters"] == Value.null)
        #expect(state["date"] == "2025-03-30" && state["final"] == true && state["revision"] == 2)
        let start = try #require(state["start"].string.flatMap { InstantText.parse($0) })
        #expect(start == zones.ranges(of: day).first?.lowerBound)

        let rest = try Value(json: Array(discovery.state(of: day, zones, ["steps": 8000]).utf8))
        #expect(rest["figures"]["workouts"].int == 0)

        let nothing = try Value(json: Array(discovery.state(of: day, zones, nil).utf8))
        #expect(nothing["figures"].object?.values.allSatisfy(\.isNull) == true)
        #expect(nothing["zone"] == "Europe/Berlin" && nothing["revision"] == 0 && nothing["final"] == false)
    }

    @Test func differentNamesStayDifferentAndAreOneLevel() {
        let names = ["me", "a.b", "a_b", "a-b", "a/b", "a#", "a+", "ä", "A", "a--b", "a-2fb"]
        let written = names.map { MQTTTopics.name($0) }
        #expect(Set(written).count == names.count, "\(written)")
        #expect(written.allSatisfy { MQTTTopics.isName($0) && !$0.contains("--") }, "\(written)")
    }
}
