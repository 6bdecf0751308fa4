import HealthModel
import JSON

/// The metadata of one sample as a JSON object of strings, in document order, built byte by byte.
struct MetadataText: ~Copyable {
    private var buffer = ByteBuffer()
    private var entries: [(key: Range<Int>, value: Range<Int>)] = []
    /// Further values of repeated keys: the entry's index and the quoted value.
    private var repeats: [(entry: Int, value: [UInt8])] = []

    /// The size in bytes, including repeated values.
    var count: Int { buffer.count + repeatedBytes }
    /// The number of entries, including repeated ones.
    var entryCount: Int { entries.count + repeats.count }
    private var repeatedBytes = 0

    mutating func removeAll() {
        guard !entries.isEmpty else { return }
        buffer.removeAll()
        entries.removeAll(keepingCapacity: true)
        repeats.removeAll(keepingCapacity: true)
        repeatedBytes = 0
    }

    mutating func append(key: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let begin = buffer.count
        buffer.append(entries.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
        let keyRange = appendQuoted(key)
        buffer.append(UInt8(ascii: ":"))
        let valueRange = appendQuoted(value)
        for index in entries.indices where same(entries[index].key, keyRange) {
            let quoted = Array(buffer.slice(valueRange))
            let isKnown =
                same(entries[index].value, valueRange)
                || repeats.contains { $0.entry == index && $0.value == quoted }
            buffer.removeLast(buffer.count - begin)
            if !isKnown {
                repeats.append((index, quoted))
                repeatedBytes += quoted.count
            }
            return
        }
        entries.append((keyRange, valueRange))
    }

    /// Appends the object, or nothing if there are no entries. A key that is repeated with different values gets an
    /// array.
    func finish(into out: inout ByteBuffer) {
        guard !entries.isEmpty else { return }
        if repeats.isEmpty {
            out.append(buffer.bytes)
            return out.append(UInt8(ascii: "}"))
        }
        for (index, entry) in entries.enumerated() {
            out.append(index == 0 ? UInt8(ascii: "{") : UInt8(ascii: ","))
            out.append(buffer.slice(entry.key))
            out.append(UInt8(ascii: ":"))
            let further = repeats.filter { $0.entry == index }
            if !further.isEmpty { out.append(UInt8(ascii: "[")) }
            out.append(buffer.slice(entry.value))
            for more in further {
                out.append(UInt8(ascii: ","))
                out.append(more.value)
            }
            if !further.isEmpty { out.append(UInt8(ascii: "]")) }
        }
        out.append(UInt8(ascii: "}"))
    }

    private func same(_ a: Range<Int>, _ b: Range<Int>) -> Bool { SameBytes.equal(buffer.slice(a), buffer.slice(b)) }

    private mutating func appendQuoted(_ text: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        let begin = buffer.count
        let isPlain = text.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        if isPlain {
            buffer.append(UInt8(ascii: "\""))
            buffer.append(text)
            buffer.append(UInt8(ascii: "\""))
        } else {
            var quoted: [UInt8] = []
            quoted.append(jsonString: text)
            buffer.append(quoted)
        }
        return begin..<buffer.count
    }
}
