import HealthModel
import JSON

/// One item of a request, represented by the positions of its members. Nested values stay text until they are
/// requested.
///
/// A member that has been read counts as understood; `rest` returns the others, so that they can be kept.
struct AutoExportItem {
    private var members: [(name: JSONSpan, value: JSONSpan)] = []
    /// One bit for each of the first 64 members; any members beyond these never count as understood.
    private var understood: UInt64 = 0

    /// Records the positions of an item's members; returns false when the item isn't an object.
    mutating func read(_ span: JSONSpan) throws(JSONScanError) -> Bool {
        members.removeAll(keepingCapacity: true)
        understood = 0
        guard span.kind == .object else { return false }
        var scanner = JSONScanner(span.bytes)
        try scanner.beginObject()
        while let name = try scanner.nextMember() { members.append((name, try scanner.value())) }
        return true
    }

    /// A member's value; nil if the member is missing or null.
    mutating func take(_ name: StaticString) -> JSONSpan? {
        for index in members.indices where members[index].name == name {
            if index < 64 { understood |= 1 << UInt64(index) }
            return members[index].value.isNull ? nil : members[index].value
        }
        return nil
    }

    /// The first of these members that exists; the others count as understood too.
    mutating func take(_ name: StaticString, _ other: StaticString) -> JSONSpan? {
        let value = take(name)
        let second = take(other)
        return value ?? second
    }

    /// As above, for three names. There is a separate function for each number of names, so that no array is created
    /// for every item.
    mutating func take(_ name: StaticString, _ other: StaticString, _ third: StaticString) -> JSONSpan? {
        let value = take(name, other)
        let last = take(third)
        return value ?? last
    }

    /// Shows each remaining member; those for which the body returns true count as understood.
    mutating func takeEach(_ body: (String, JSONSpan) -> Bool) {
        for (index, member) in members.enumerated() where index < 64 && !isUnderstood(index) && !member.value.isNull {
            if let name = member.name.text, body(name, member.value) { understood |= 1 << UInt64(index) }
        }
    }

    /// Whether there is a member with this name, even if it is null.
    func has(_ name: StaticString) -> Bool { members.contains { $0.name == name } }

    /// A member's value, read without marking the member as understood.
    func look(_ name: StaticString) -> JSONSpan? {
        members.first { $0.name == name }.flatMap { $0.value.isNull ? nil : $0.value }
    }

    /// Members that nothing has requested, except those that are null.
    var rest: [String: Value] {
        // Usually there are none, so the dictionary is made only when needed.
        var rest: [String: Value] = [:]
        for (index, member) in members.enumerated() where !isUnderstood(index) && !member.value.isNull {
            if let name = member.name.text { rest[name] = member.value.value }
        }
        return rest
    }

    /// As many of the remaining members as fit into the given number of bytes, shortest first, and the names of those
    /// that don't fit.
    func rest(upTo limit: Int) -> (members: [String: Value], notKept: [String]) {
        let left = members.enumerated().filter { !isUnderstood($0.offset) && !$0.element.value.isNull }
        let sorted = left.compactMap { _, member in member.name.text.map { (name: $0, value: member.value) } }
            .sorted { ($0.value.bytes.count, $0.name) < ($1.value.bytes.count, $1.name) }
        var kept: [String: Value] = [:]
        var notKept: [String] = []
        var room = limit
        for (name, value) in sorted {
            room -= value.bytes.count
            if room >= 0 { kept[name] = value.value } else { notKept.append(name) }
        }
        return (kept, notKept.sorted())
    }

    private func isUnderstood(_ index: Int) -> Bool { index < 64 && understood >> UInt64(index) & 1 == 1 }
}

extension JSONSpan {
    /// The text of a number, which some versions of the app write inside a string.
    var numberText: UnsafeBufferPointer<UInt8>? {
        kind == .number || kind == .string ? bytes.assumingMemoryBound(to: UInt8.self) : nil
    }

    /// As above, as a double.
    var decimal: Double? { numberText.flatMap { DecimalText.parse($0) } }

    /// A date with its offset; nil for anything else.
    var date: AutoExportDate? {
        switch kind {
        case .string: return AutoExportDate(bytes.assumingMemoryBound(to: UInt8.self))
        case .escapedString:
            var text = text ?? ""
            return text.withUTF8 { AutoExportDate($0) }
        default: return nil
        }
    }

    /// A boolean; a number counts as false if it is 0, and otherwise as true.
    var flag: Bool? {
        switch kind {
        case .bool: bytes.first == UInt8(ascii: "t")
        case .number: decimal.map { $0 != 0 }
        default: nil
        }
    }

    /// The value with all its members. If it contains a number that a double may not hold exactly, the whole value
    /// stays text.
    var value: Value {
        if let text { return .string(text) }
        return Value(strictJSON: Array(bytes)) ?? .string(String(decoding: bytes, as: UTF8.self))
    }
}
