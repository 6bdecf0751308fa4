import HealthModel

extension ObserverRegistrations {
    /// What must survive a restart. Fires under way are left out: whoever was told hears it again, since `held` or the head says so.
    package var wireValue: Value {
        func names(_ set: Set<String>) -> Value { .array(set.sorted().map { .string($0) }) }
        func frequencies(_ table: [String: DeliveryFrequency]) -> Value {
            .object(table.mapValues { .string($0.name) })
        }
        let consumers = consumers.mapValues { consumer -> Value in
            [
                "launch": .integer(consumer.launch), "types": frequencies(consumer.types),
                "stopped": .bool(consumer.isStopped),
                "strikes": .object(consumer.strikes.mapValues { .integer(Int64($0)) }),
            ]
        }
        return [
            "consumers": .object(consumers), "held": .object(held.mapValues { .integer($0) }),
            "lastFires": .object(lastFires.mapValues { .integer($0) }), "off": names(off), "denied": names(denied),
            "frequencies": frequencies(self.frequencies), "wakes": .array(wakes.map { .integer($0) }),
            "lockHeldSince": lockHeldSince.map { .integer($0) } ?? .null,
        ]
    }

    /// nil when the value isn't one.
    package init?(wireValue value: Value, policy: DeliveryPolicy) {
        guard value.object != nil else { return nil }
        func names(_ member: String) -> Set<String> { Set((value[member].array ?? []).compactMap(\.string)) }
        self.init(policy: policy)
        held = (value["held"].object ?? [:]).compactMapValues(\.int)
        savedHeld = held
        lastFires = (value["lastFires"].object ?? [:]).compactMapValues(\.int)
        off = names("off")
        denied = names("denied")
        frequencies = Self.frequencies(value["frequencies"])
        wakes = (value["wakes"].array ?? []).compactMap(\.int)
        lockHeldSince = value["lockHeldSince"].int
        for (name, entry) in value["consumers"].object ?? [:] {
            guard let launch = entry["launch"].int else { return nil }
            var consumer = Consumer(launch: launch, types: Self.frequencies(entry["types"]))
            consumer.isStopped = entry["stopped"].bool == true
            consumer.strikes = (entry["strikes"].object ?? [:]).compactMapValues { $0.int.map { Int($0) } }
            consumers[name] = consumer
        }
    }

    private static func frequencies(_ value: Value) -> [String: DeliveryFrequency] {
        (value.object ?? [:]).compactMapValues { $0.string.flatMap(DeliveryFrequency.init(name:)) }
    }

    /// Its owner has written `wireValue`.
    package mutating func saved() {
        isChanged = false
        savedHeld = held
        isWorthSaving = false
    }
}
