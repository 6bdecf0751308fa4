import HealthModel

/// The messages from which Home Assistant makes devices and sensors, and those with their states. Pure.
///
/// See https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery and
/// https://www.home-assistant.io/integrations/sensor.mqtt.
package struct Discovery: Sendable, Equatable {
    package let topics: MQTTTopics
    package let sensors: [FigureSensor]
    /// What a day's message says about its owner.
    package var owner = ""

    /// The name of the program that made a description.
    static let origin = "healthbus"

    package init(topics: MQTTTopics, sensors: [FigureSensor]) {
        self.topics = topics
        self.sensors = FigureSensor.distinct(sensors)
    }

    /// The descriptions of a person's sensors, by topic.
    package func descriptions(of user: String) -> [String: String] {
        var messages: [String: String] = [:]
        for sensor in sensors {
            for slot in DaySlot.allCases {
                let object = "\(MQTTTopics.name(user))--\(sensor.object)" + (slot == .today ? "" : "--yesterday")
                messages[topics.discovery(object)] = description(sensor, slot, of: user, object).json()
            }
        }
        return messages
    }

    private func description(_ sensor: FigureSensor, _ slot: DaySlot, of user: String, _ object: String) -> Value {
        let topic = topics.day(of: user, slot)
        var members: [String: Value] = [
            "name": .string(sensor.name + (slot == .today ? "" : " yesterday")),
            "unique_id": .string("\(topics.base)--\(object)"),
            "state_topic": .string(topic),
            // A member that is null makes the state unknown.
            "value_template": .string("{{ value_json.figures['\(sensor.object)'] }}"),
            "json_attributes_topic": .string(topic),
            "json_attributes_template": .string(
                "{{ {'date': value_json.date, 'zone': value_json.zone, 'final': value_json.final, "
                    + "'revision': value_json.revision} | tojson }}"),
            "availability_topic": .string(topics.status),
            "qos": 1,
            "suggested_display_precision": .integer(Int64(sensor.digits)),
            "device": [
                "identifiers": .array([.string("\(topics.base)--\(MQTTTopics.name(user))")]),
                "name": .string("Health \(user)"), "manufacturer": "healthbus", "model": "Daily figures",
            ],
            "origin": ["name": .string(Self.origin)],
        ]
        if let unit = sensor.unit { members["unit_of_measurement"] = .string(unit) }
        if let deviceClass = sensor.deviceClass { members["device_class"] = .string(deviceClass) }
        if slot == .today, let stateClass = sensor.stateClass {
            members["state_class"] = .string(stateClass)
            if stateClass == SensorKind.StateClass.total.rawValue {
                members["last_reset_value_template"] = "{{ value_json.start }}"
            }
        } else if sensor.unit == nil {
            // Yesterday's sensor would count every day twice in long-term statistics, so it has no state class. But
            // without a unit, this is what makes a state a number for Home Assistant's pages: they round it, and draw
            // it as a line. A measurement is only averaged.
            members["state_class"] = .string(SensorKind.StateClass.measurement.rawValue)
        }
        return .object(members)
    }

    /// The states of all of a person's sensors for a day, as one message: they change together or not at all.
    /// - Parameter summary: the body of the day's summary; nil if there is none, which makes all states unknown.
    package func state(of day: LocalDay, _ zones: ZoneTimeline, _ summary: Value?) -> String {
        let start = zones.ranges(of: day).first?.lowerBound
        var figures: [String: Value] = [:]
        for sensor in sensors { figures[sensor.object] = summary.map { sensor.value(in: $0) } ?? .null }
        let zone = summary?["zone"].string ?? start.map { zones.zone(at: $0) }
        return Value.object([
            "date": .string(day.description), "start": Value(start.map { InstantText.iso8601($0) }),
            "zone": Value(zone), "final": .bool(summary?["final"].bool ?? false),
            "revision": .integer(summary?["revision"].int ?? 0), "figures": .object(figures), "stack": .string(owner),
        ]).json()
    }
}
