/// A string for each row of a block. Repeated strings that are close together are stored only once, and each row refers
/// to a stored string.
struct BlockTexts {
    private(set) var bytes: [UInt8] = []
    /// Where each string ends in `bytes`.
    private var ends: [Int32] = []
    /// For each row, an index into `ends`.
    private var index: [Int64] = []

    /// How many of the latest distinct strings a string is compared with: in an export, repeats are close together.
    private static let memory = 32

    init() {}

    var count: Int { index.count }

    mutating func append(_ text: UnsafeRawBufferPointer) {
        for candidate in ends.indices.suffix(Self.memory).reversed() where isSame(text, range(ofText: candidate)) {
            index.append(Int64(candidate))
            return
        }
        bytes.append(contentsOf: text)
        index.append(Int64(ends.count))
        ends.append(Int32(bytes.count))
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        index.removeAll(keepingCapacity: true)
    }

    private func isSame(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        text.count == range.count && bytes.withUnsafeBytes { $0[range].elementsEqual(text) }
    }

    private func range(ofText text: Int) -> Range<Int> { (text == 0 ? 0 : Int(ends[text - 1]))..<Int(ends[text]) }

    func isEmpty(_ row: Int) -> Bool { range(ofText: Int(index[row])).isEmpty }

    func withText<Result>(_ row: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let range = range(ofText: Int(index[row]))
        return try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    func encode(to out: inout [UInt8]) {
        NumberColumn.append(Int64(ends.count), to: &out)
        for text in ends.indices { NumberColumn.append(Int64(range(ofText: text).count), to: &out) }
        out += bytes
        NumberColumn.encode(index, to: &out)
    }

    init(_ count: Int, from reader: inout ByteReader) throws(BlockDamage) {
        let texts = try reader.count()
        var end = 0
        ends.reserveCapacity(texts)
        for _ in 0..<texts {
            end += try reader.count()
            ends.append(Int32(truncatingIfNeeded: end))
        }
        bytes = [UInt8](try reader.take(end))
        index = try NumberColumn.decode(count, from: &reader)
        guard index.allSatisfy({ $0 >= 0 && $0 < texts }) else { throw BlockDamage() }
    }
}
