/// The members of a JSON object, one level deep; nested values stay text.
///
/// Metadata and payloads are stored with their members ordered by the bytes of their keys and without spaces, so that
/// equal content gives equal bytes. Anything that isn't an object stays as it is.
package struct JSONMembers {
    private struct Member {
        // Ranges in the text; the key includes its quotes.
        var keyStart: Int
        var keyEnd: Int
        var valueStart: Int
        var valueEnd: Int
    }

    private let text: UnsafeRawBufferPointer
    private var members: [Member] = []

    /// Nil when the text isn't a JSON object.
    private init?(_ text: UnsafeRawBufferPointer) {
        self.text = text
        var scanner = JSONScanner(text)
        do throws(JSONScanError) {
            try scanner.beginObject()
            while let name = try scanner.nextMember() {
                guard let first = name.bytes.baseAddress, let start = text.baseAddress else { return nil }
                let keyStart = first - start - 1
                scanner.skipSpace()
                let valueStart = scanner.position
                _ = try scanner.value()
                members.append(
                    Member(
                        keyStart: keyStart, keyEnd: keyStart + name.bytes.count + 2, valueStart: valueStart,
                        valueEnd: scanner.position))
            }
            try scanner.end()
        } catch { return nil }
    }

    /// The canonical form; nil if the text is already canonical or isn't an object.
    package static func canonical(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard var object = JSONMembers(text) else { return nil }
        if object.isCanonical { return nil }
        object.sort()
        var out: [UInt8] = []
        out.reserveCapacity(text.count)
        for member in object.members { object.append(member, to: &out) }
        return close(&out)
    }

    /// The union of two canonical objects, in either order. Of two values for one key, or of two texts that aren't
    /// objects, the longer is kept, or the greater by bytes if they are equally long: the richer one wins, whatever the
    /// order.
    package static func joined(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> [UInt8] {
        joined(a, b, prefersLeft: isRicher)
    }

    /// The canonical object, with members replaced by those of another, whatever their old values.
    package static func replacing(_ object: UnsafeRawBufferPointer, with members: UnsafeRawBufferPointer) -> [UInt8] {
        joined(object, members) { _, _ in false }
    }

    private static func joined(
        _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer,
        prefersLeft: (Slice<UnsafeRawBufferPointer>, Slice<UnsafeRawBufferPointer>) -> Bool
    ) -> [UInt8] {
        guard var left = JSONMembers(a), var right = JSONMembers(b) else {
            if JSONMembers(a) != nil { return [UInt8](a) }
            if JSONMembers(b) != nil { return [UInt8](b) }
            return [UInt8](prefersLeft(a[...], b[...]) ? a : b)
        }
        left.sort()
        right.sort()
        var out: [UInt8] = []
        out.reserveCapacity(a.count + b.count)
        var i = 0
        var j = 0
        while i < left.members.count || j < right.members.count {
            let order =
                i == left.members.count
                ? 1
                : j == right.members.count ? -1 : compare(left.key(i), right.key(j))
            if order < 0 {
                left.append(left.members[i], to: &out)
                i += 1
            } else if order > 0 {
                right.append(right.members[j], to: &out)
                j += 1
            } else {
                if prefersLeft(left.value(i), right.value(j)) {
                    left.append(left.members[i], to: &out)
                } else {
                    right.append(right.members[j], to: &out)
                }
                i += 1
                j += 1
            }
        }
        return close(&out)
    }

    private static func close(_ out: inout [UInt8]) -> [UInt8] {
        if out.isEmpty { out.append(UInt8(ascii: "{")) }
        out.append(UInt8(ascii: "}"))
        return out
    }

    private func append(_ member: Member, to out: inout [UInt8]) {
        out.append(out.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
        out.append(contentsOf: text[member.keyStart..<member.keyEnd])
        out.append(UInt8(ascii: ":"))
        out.append(contentsOf: text[member.valueStart..<member.valueEnd])
    }

    private var isCanonical: Bool {
        var length = 2 + max(0, members.count - 1)
        for index in members.indices {
            if index > 0, Self.compare(key(index - 1), key(index)) > 0 { return false }
            let member = members[index]
            length += member.keyEnd - member.keyStart + 1 + member.valueEnd - member.valueStart
        }
        return length == text.count
    }

    private mutating func sort() {
        let text = text
        members.sort {
            let order = Self.compare(text[$0.keyStart..<$0.keyEnd], text[$1.keyStart..<$1.keyEnd])
            return order != 0 ? order < 0 : $0.keyStart < $1.keyStart
        }
    }

    private func key(_ index: Int) -> Slice<UnsafeRawBufferPointer> {
        text[members[index].keyStart..<members[index].keyEnd]
    }
    private func value(_ index: Int) -> Slice<UnsafeRawBufferPointer> {
        text[members[index].valueStart..<members[index].valueEnd]
    }

    private static func compare(_ a: Slice<UnsafeRawBufferPointer>, _ b: Slice<UnsafeRawBufferPointer>) -> Int {
        for (x, y) in zip(a, b) where x != y { return x < y ? -1 : 1 }
        return a.count == b.count ? 0 : a.count < b.count ? -1 : 1
    }

    package static func isRicher(_ a: Slice<UnsafeRawBufferPointer>, _ b: Slice<UnsafeRawBufferPointer>) -> Bool {
        a.count != b.count ? a.count > b.count : compare(a, b) > 0
    }
}
