import HealthModel
import JSON

/// Joins the payloads that several channels have for one sample, member by member. Of two values for the same member,
/// the better one is kept (`PayloadText`). So no channel can take away what another has brought.
///
/// Joining is commutative, associative and idempotent: the result depends only on what has arrived, not on the order.
enum PayloadJoin {
    /// The union of two payloads. If only one is an object, that one; if neither is, the richer one.
    static func joined(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> [UInt8] {
        switch (PayloadValue(object: a), PayloadValue(object: b)) {
        case (let left?, let right?):
            var out: [UInt8] = []
            out.reserveCapacity(a.count + b.count)
            left.joined(right).append(to: &out)
            return out
        case (_?, nil): return JSONMembers.canonical(a) ?? [UInt8](a)
        case (nil, _?): return JSONMembers.canonical(b) ?? [UInt8](b)
        case (nil, nil): return JSONMembers.joined(a, b)
        }
    }
}

/// A value in a payload, as far as it is joined: objects by member, some lists by what their elements are about.
/// Everything else is kept or replaced as a whole. Valid only as long as the text that it was read from.
indirect enum PayloadValue {
    case text(PayloadText)
    /// By key, in its JSON form with quotes.
    case object([[UInt8]: PayloadValue])
    case list(PayloadList, [PayloadKey: PayloadValue])

    /// Nil when the text isn't a JSON object.
    init?(object text: UnsafeRawBufferPointer) {
        do throws(JSONScanError) {
            var scanner = JSONScanner(text)
            let span = try scanner.value()
            try scanner.end()
            guard span.kind == .object else { return nil }
            self = try Self.object(span)
        } catch { return nil }
    }

    private static func object(_ span: JSONSpan) throws(JSONScanError) -> PayloadValue {
        var members: [[UInt8]: PayloadValue] = [:]
        var scanner = JSONScanner(span.bytes)
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            var key: [UInt8] = []
            key.append(jsonString: name.text ?? "")
            let value = try value(scanner.value(), in: key)
            members[key] = members[key]?.joined(value) ?? value
        }
        return members.keys.contains(where: PayloadText.marks.contains)
            ? .text(PayloadText(whole: span)) : .object(members)
    }

    private static func value(_ span: JSONSpan, in key: [UInt8]) throws(JSONScanError) -> PayloadValue {
        if span.kind == .object {
            return PayloadText.wholes.contains(key) ? .text(PayloadText(whole: span)) : try object(span)
        }
        if span.kind == .array, let kind = PayloadList.kinds[key], let list = try list(span.bytes, kind) {
            return list
        }
        return .text(PayloadText(span, in: key))
    }

    /// Nil if an element isn't an object.
    private static func list(
        _ text: UnsafeRawBufferPointer, _ kind: PayloadList
    ) throws(JSONScanError) -> PayloadValue? {
        var elements: [PayloadKey: PayloadValue] = [:]
        var scanner = JSONScanner(text)
        try scanner.beginArray()
        while try scanner.nextElement() {
            let span = try scanner.value()
            guard span.kind == .object else { return nil }
            let element = try object(span)
            let key = kind.key(of: element)
            elements[key] = elements[key].map { kind.joined($0, element) } ?? element
        }
        return .list(kind, kind.limited(elements))
    }

    /// A value of the right shape is never replaced by one of the wrong shape.
    private var rank: Int {
        switch self {
        case .text(let text): text.rank
        case .object: PayloadText.objectRank
        case .list: PayloadText.listRank
        }
    }

    func joined(_ other: PayloadValue) -> PayloadValue {
        switch (self, other) {
        case (.object(let mine), .object(let others)):
            return .object(mine.merging(others) { $0.joined($1) })
        case (.list(let kind, let mine), .list(_, let others)):
            return .list(kind, kind.limited(mine.merging(others) { kind.joined($0, $1) }))
        case (.text(let mine), .text(let others)): return .text(max(mine, others))
        default: return rank > other.rank ? self : other
        }
    }

    /// Appends the canonical JSON form: members in order of their keys, elements in order of time.
    func append(to out: inout [UInt8]) {
        switch self {
        case .text(let text): out.append(contentsOf: text.whole)
        case .object(let members):
            var separator = UInt8(ascii: "{")
            for (key, value) in members.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                out.append(separator)
                out.append(contentsOf: key)
                out.append(UInt8(ascii: ":"))
                value.append(to: &out)
                separator = UInt8(ascii: ",")
            }
            if members.isEmpty { out.append(separator) }
            out.append(UInt8(ascii: "}"))
        case .list(_, let elements):
            var separator = UInt8(ascii: "[")
            for (_, element) in elements.sorted(by: { $0.key < $1.key }) {
                out.append(separator)
                element.append(to: &out)
                separator = UInt8(ascii: ",")
            }
            if elements.isEmpty { out.append(separator) }
            out.append(UInt8(ascii: "]"))
        }
    }

    /// A member's value, if it isn't an object or a list.
    subscript(_ member: StaticString) -> JSONSpan? {
        guard case .object(let members) = self else { return nil }
        var key: [UInt8] = [UInt8(ascii: "\"")]
        key.append(json: member)
        key.append(UInt8(ascii: "\""))
        guard case .text(let text)? = members[key] else { return nil }
        return text.span
    }
}
