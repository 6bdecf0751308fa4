import HealthModel

/// Records on their way to the store: columns as typed arrays, like a page of samples. Pieces of exports aren't sent.
extension RecordBatch {
    var wireValue: Value {
        var members: [String: Value] = [
            "types": .array(types.map { .string($0) }),
            "units": .array(units.map { .string($0) }),
            "origins": .array(origins.map(\.wireValue)),
            "type": .column(.int32(type)),
            "start": .column(.int64(start)),
            "end": .column(.int64(end)),
            "value": .column(.float64(value)),
            "unit": .column(.int32(unit)),
            "origin": .column(.int32(origin)),
            "created": .column(.int64(created)),
            "flags": .column(.uint8(flags.map(\.rawValue))),
            "item": .column(.int64(line)),
        ]
        if !metadata.bytes.isEmpty { members["metadata"] = metadata.wireValue }
        if !payload.bytes.isEmpty { members["payload"] = payload.wireValue }
        if healthKitUUID.contains(where: { $0 != nil }) {
            members["uuid"] = .bytes(SamplePage.idBytes(healthKitUUID.map { $0 ?? SampleID(high: 0, low: 0) }))
        }
        return .object(members)
    }

    /// - Throws: `PageError` if a column is missing or has the wrong kind, lengths differ, or an index points beyond
    ///   its dictionary.
    init(wireValue value: Value) throws(PageError) {
        self.init()
        types = try value.column("types", \.texts)
        units = try value.column("units", \.texts)
        origins = try value.column("origins", \.array).map { (entry) throws(PageError) in
            try Origin(wireValue: entry)
        }
        type = try value.column("type", \.int32s)
        start = try value.column("start", \.int64s)
        end = try value.column("end", \.int64s)
        self.value = try value.column("value", \.float64s)
        unit = try value.column("unit", \.int32s)
        origin = try value.column("origin", \.int32s)
        created = try value.column("created", \.int64s)
        flags = try value.column("flags", \.uint8s).map { RecordFlags(rawValue: $0) }
        line = try value.column("item", \.int64s)
        metadata = try TextColumn(wireValue: value["metadata"], name: "metadata")
        payload = try TextColumn(wireValue: value["payload"], name: "payload")
        if !value["uuid"].isNull {
            healthKitUUID = try SamplePage.ids(try value.column("uuid", \.bytes), column: "uuid")
                .map { $0 == SampleID(high: 0, low: 0) ? nil : $0 }
        }
        try check()
    }

    private func check() throws(PageError) {
        for (name, length) in [
            ("start", start.count), ("end", end.count), ("value", value.count), ("unit", unit.count),
            ("origin", origin.count), ("created", created.count), ("flags", flags.count), ("item", line.count),
        ] where length != count { throw PageError(column: name) }
        for (name, length) in [
            ("metadata", metadata.count), ("payload", payload.count), ("uuid", healthKitUUID.count),
        ] where length != 0 && length != count { throw PageError(column: name) }
        for (name, column, names) in [
            ("type", type, types.count), ("unit", unit, units.count), ("origin", origin, origins.count),
        ] where !column.allSatisfy({ $0 >= 0 && $0 < names }) { throw PageError(column: name) }
    }
}
