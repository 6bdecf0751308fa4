import HealthModel

/// A page of samples on the wire: columns as typed arrays, so that encoding a page takes a dozen copies instead of a
/// loop over samples.
extension SamplePage {
    package var wireValue: Value {
        var members: [String: Value] = [
            "types": .array(types.map { .string($0) }),
            "origins": .array(origins.map(\.wireValue)),
            "id": .bytes(Self.idBytes(ids)),
            "seq": .column(.int64(sequence)),
            "type": .column(.int32(type)),
            "start": .column(.int64(start)),
            "end": .column(.int64(end)),
            "value": .column(.float64(value)),
            "origin": .column(.int32(origin)),
            "flags": .column(.uint8(flags.map(\.rawValue))),
        ]
        // Empty columns weren't requested and aren't sent.
        if !unit.isEmpty {
            members["units"] = .array(units.map { .string($0) })
            members["unit"] = .column(.int32(unit))
        }
        if !created.isEmpty { members["created"] = .column(.int64(created)) }
        if metadata.count > 0 { members["metadata"] = metadata.wireValue }
        if payload.count > 0 { members["payload"] = payload.wireValue }
        if healthKitUUID.contains(where: { $0 != nil }) {
            members["uuid"] = .bytes(Self.idBytes(healthKitUUID.map { $0 ?? SampleID(high: 0, low: 0) }))
        }
        return .object(members)
    }

    /// - Throws: `PageError` if a column is missing or has the wrong kind, lengths differ, or an index points beyond
    ///   its dictionary.
    package init(wireValue value: Value) throws(PageError) {
        self.init()
        func optional<Element>(_ name: String, _ read: (Value) -> [Element]?) throws(PageError) -> [Element] {
            value[name].isNull ? [] : try value.column(name, read)
        }
        types = try value.column("types", \.texts)
        origins = try value.column("origins", \.array).map { (entry) throws(PageError) in
            try Origin(wireValue: entry)
        }
        ids = try Self.ids(try value.column("id", \.bytes))
        sequence = try value.column("seq", \.int64s)
        type = try value.column("type", \.int32s)
        start = try value.column("start", \.int64s)
        end = try value.column("end", \.int64s)
        self.value = try value.column("value", \.float64s)
        origin = try value.column("origin", \.int32s)
        flags = try value.column("flags", \.uint8s).map { SampleFlags(rawValue: $0) }
        units = try optional("units", \.texts)
        unit = try optional("unit", \.int32s)
        created = try optional("created", \.int64s)
        metadata = try TextColumn(wireValue: value["metadata"], name: "metadata")
        payload = try TextColumn(wireValue: value["payload"], name: "payload")
        healthKitUUID = try Self.ids(try optional("uuid", \.bytes), column: "uuid")
            .map { $0 == SampleID(high: 0, low: 0) ? nil : $0 }
        try check()
    }

    /// Checks the guarantees that readers rely on: equal lengths, and every index within its dictionary.
    private func check() throws(PageError) {
        let rows = ids.count
        for (name, count) in [
            ("seq", sequence.count), ("type", type.count), ("start", start.count), ("end", end.count),
            ("value", value.count), ("origin", origin.count), ("flags", flags.count),
        ] where count != rows { throw PageError(column: name) }
        for (name, count) in [
            ("unit", unit.count), ("created", created.count), ("metadata", metadata.count), ("payload", payload.count),
            ("uuid", healthKitUUID.count),
        ] where count != 0 && count != rows { throw PageError(column: name) }
        guard type.allSatisfy({ types.indices.contains(Int($0)) }) else { throw PageError(column: "type") }
        guard origin.allSatisfy({ origins.indices.contains(Int($0)) }) else { throw PageError(column: "origin") }
        guard unit.allSatisfy({ units.indices.contains(Int($0)) }) else { throw PageError(column: "unit") }
    }

    /// 16 bytes each, most significant first.
    static func idBytes(_ ids: [SampleID]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: ids.count * 16) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            for (index, id) in ids.enumerated() {
                bytes.storeBytes(of: id.high.bigEndian, toByteOffset: 16 * index, as: UInt64.self)
                bytes.storeBytes(of: id.low.bigEndian, toByteOffset: 16 * index + 8, as: UInt64.self)
            }
            count = ids.count * 16
        }
    }

    static func ids(_ bytes: [UInt8], column: String = "id") throws(PageError) -> [SampleID] {
        guard bytes.count % 16 == 0 else { throw PageError(column: column) }
        return bytes.withUnsafeBytes { raw in
            stride(from: 0, to: raw.count, by: 16).map { offset in
                SampleID(
                    high: UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)),
                    low: UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)))
            }
        }
    }
}

extension TextColumn {
    var wireValue: Value { ["bytes": .bytes(bytes), "ends": .column(.int32(ends))] }

    init(wireValue value: Value, name: String) throws(PageError) {
        self.init()
        guard !value.isNull else { return }
        guard let bytes = value["bytes"].bytes, let ends = value["ends"].int32s else { throw PageError(column: name) }
        var last: Int32 = 0
        for end in ends {
            guard end >= last, Int(end) <= bytes.count else { throw PageError(column: name) }
            last = end
        }
        self.init(bytes: bytes, ends: ends)
    }
}

extension Origin {
    var wireValue: Value {
        .array(([sourceName, sourceVersion, productType, device] + otherNames).map { .string($0) })
    }

    /// Whatever follows the four parts are other names of the source.
    init(wireValue value: Value) throws(PageError) {
        guard let parts = value.texts, parts.count >= 4 else { throw PageError(column: "origins") }
        self.init(sourceName: parts[0], sourceVersion: parts[1], productType: parts[2], device: parts[3])
        otherNames = Array(parts[4...])
    }
}

extension Value {
    /// A column of a page. A single unreadable one makes the whole page invalid: an index must never point at the wrong
    /// entry.
    func column<Element>(_ name: String, _ read: (Value) -> [Element]?) throws(PageError) -> [Element] {
        guard let column = read(self[name]) else { throw PageError(column: name) }
        return column
    }

    /// The elements of an array that contains only strings.
    var texts: [String]? {
        guard case .array(let elements) = self else { return nil }
        let texts = elements.compactMap(\.string)
        return texts.count == elements.count ? texts : nil
    }
}

/// A page whose columns don't fit together.
package struct PageError: Error, Equatable, CustomStringConvertible {
    package let column: String
    package var description: String {
        "a page of samples whose column '\(column)' is missing or doesn't fit the others"
    }
}
