import HealthModel

/// The page of samples as it travels: columns as typed arrays, so that coding a page is a dozen copies, not a loop over samples.
extension SamplePage {
    public var wireValue: Value {
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
        // Empty columns weren't asked for and don't travel.
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

    /// - Throws: `PageError` when a column is missing or the lengths disagree.
    public init(wireValue value: Value) throws(PageError) {
        self.init()
        func column<Element>(_ name: String, _ numbers: [Element]?) throws(PageError) -> [Element] {
            guard let numbers else { throw PageError(column: name) }
            return numbers
        }
        types = (value["types"].array ?? []).compactMap(\.string)
        origins = (value["origins"].array ?? []).map { Origin(wireValue: $0) }
        ids = try Self.ids(try column("id", value["id"].bytes))
        sequence = try column("seq", value["seq"].int64s)
        type = try column("type", value["type"].int32s)
        start = try column("start", value["start"].int64s)
        end = try column("end", value["end"].int64s)
        self.value = try column("value", value["value"].float64s)
        origin = try column("origin", value["origin"].int32s)
        flags = try column("flags", value["flags"].uint8s).map { SampleFlags(rawValue: $0) }
        units = (value["units"].array ?? []).compactMap(\.string)
        unit = value["unit"].int32s ?? []
        created = value["created"].int64s ?? []
        metadata = try TextColumn(wireValue: value["metadata"], name: "metadata")
        payload = try TextColumn(wireValue: value["payload"], name: "payload")
        if let uuids = value["uuid"].bytes {
            healthKitUUID = try Self.ids(uuids).map { $0 == SampleID(high: 0, low: 0) ? nil : $0 }
        }
        try check()
    }

    /// What a reader may rely on without looking again: equal lengths, and every index inside its dictionary.
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

    private static func idBytes(_ ids: [SampleID]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ids.count * 16)
        for id in ids {
            withUnsafeBytes(of: id.high.bigEndian) { bytes.append(contentsOf: $0) }
            withUnsafeBytes(of: id.low.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    private static func ids(_ bytes: [UInt8]) throws(PageError) -> [SampleID] {
        guard bytes.count % 16 == 0 else { throw PageError(column: "id") }
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
        .array([.string(sourceName), .string(sourceVersion), .string(productType), .string(device)])
    }

    init(wireValue value: Value) {
        let parts = value.array?.map { $0.string ?? "" } ?? []
        func part(_ index: Int) -> String { index < parts.count ? parts[index] : "" }
        self.init(sourceName: part(0), sourceVersion: part(1), productType: part(2), device: part(3))
    }
}

/// A page whose columns don't fit together.
public struct PageError: Error, Equatable, CustomStringConvertible {
    public let column: String
    public var description: String { "a page of samples whose column '\(column)' is missing or doesn't fit the others" }
}
