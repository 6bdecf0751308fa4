import HealthModel

/// The metadata of one sample as a JSON object of strings, in document order, built byte by byte.
struct MetadataText {
    private(set) var bytes: [UInt8] = []
    private var entries: [(key: Range<Int>, value: Range<Int>)] = []
    /// Further values of keys that repeat: the entry's index and the quoted value.
    private var repeats: [(entry: Int, value: [UInt8])] = []

    var isEmpty: Bool { entries.isEmpty }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
        repeats.removeAll(keepingCapacity: true)
    }

    mutating func append(key: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let begin = bytes.count
        bytes.append(entries.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
        let keyRange = appendQuoted(key)
        bytes.append(UInt8(ascii: ":"))
        let valueRange = appendQuoted(value)
        if let index = entries.firstIndex(where: { same($0.key, keyRange) }) {
            let quoted = Array(bytes[valueRange])
            let isKnown =
                same(entries[index].value, valueRange)
                || repeats.contains { $0.entry == index && $0.value == quoted }
            bytes.removeSubrange(begin...)
            if !isKnown { repeats.append((index, quoted)) }
            return
        }
        entries.append((keyRange, valueRange))
    }

    /// Ends the object and appends it as a row; an empty row when there is none. A key that repeats with different values has an array.
    mutating func finish(into column: inout TextColumn) {
        guard !entries.isEmpty else { return column.appendEmpty() }
        if repeats.isEmpty {
            bytes.append(UInt8(ascii: "}"))
            bytes.withUnsafeBufferPointer { column.bytes.append(contentsOf: $0) }
        } else {
            for (index, entry) in entries.enumerated() {
                let values = [Array(bytes[entry.value])] + repeats.filter { $0.entry == index }.map(\.value)
                column.bytes.append(index == 0 ? UInt8(ascii: "{") : UInt8(ascii: ","))
                column.bytes.append(contentsOf: bytes[entry.key])
                column.bytes.append(UInt8(ascii: ":"))
                if values.count > 1 { column.bytes.append(UInt8(ascii: "[")) }
                column.bytes.append(contentsOf: values.joined(separator: [UInt8(ascii: ",")]))
                if values.count > 1 { column.bytes.append(UInt8(ascii: "]")) }
            }
            column.bytes.append(UInt8(ascii: "}"))
        }
        column.ends.append(Int32(column.bytes.count))
    }

    private func same(_ a: Range<Int>, _ b: Range<Int>) -> Bool {
        guard a.count == b.count else { return false }
        return bytes.withUnsafeBufferPointer {
            SameBytes.equal(UnsafeBufferPointer(rebasing: $0[a]), UnsafeBufferPointer(rebasing: $0[b]))
        }
    }

    private mutating func appendQuoted(_ text: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        let begin = bytes.count
        let isPlain = text.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        if isPlain {
            bytes.append(UInt8(ascii: "\""))
            bytes.append(contentsOf: text)
            bytes.append(UInt8(ascii: "\""))
        } else {
            JSONString.append(text, to: &bytes)
        }
        return begin..<bytes.count
    }
}
