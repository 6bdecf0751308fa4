import Glibc

/// Numbers byte strings 0, 1, 2 … in order of first appearance; equal bytes have equal numbers.
struct ByteInterner {
    private var bytes: [UInt8] = []
    private var ends: [Int] = [0]
    private var hashes: [UInt64] = []
    /// A hash table with open addressing; −1 marks a free slot.
    private var table = [Int32](repeating: -1, count: 256)

    var count: Int { hashes.count }

    /// The string's number, and whether it is new.
    mutating func number(of key: UnsafeBufferPointer<UInt8>) -> (number: Int, isNew: Bool) {
        let hash = Self.hash(key)
        var slot = Int(truncatingIfNeeded: hash) & (table.count - 1)
        while table[slot] >= 0 {
            let candidate = Int(table[slot])
            if hashes[candidate] == hash, isEqual(candidate, key) { return (candidate, false) }
            slot = (slot + 1) & (table.count - 1)
        }
        let number = hashes.count
        table[slot] = Int32(number)
        bytes.append(contentsOf: key)
        ends.append(bytes.count)
        hashes.append(hash)
        if hashes.count * 2 > table.count { grow() }
        return (number, true)
    }

    private func isEqual(_ number: Int, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
        let begin = ends[number]
        guard ends[number + 1] - begin == key.count else { return false }
        return bytes.withUnsafeBufferPointer {
            SameBytes.equal(UnsafeBufferPointer(rebasing: $0[begin..<begin + key.count]), key)
        }
    }

    private mutating func grow() {
        table = [Int32](repeating: -1, count: table.count * 2)
        for (number, hash) in hashes.enumerated() {
            var slot = Int(truncatingIfNeeded: hash) & (table.count - 1)
            while table[slot] >= 0 { slot = (slot + 1) & (table.count - 1) }
            table[slot] = Int32(number)
        }
    }

    /// Processes eight bytes per step, because keys are long (a device's description) and come with every record.
    private static func hash(_ key: UnsafeBufferPointer<UInt8>) -> UInt64 {
        let raw = UnsafeRawBufferPointer(key)
        var hash = UInt64(key.count) &* 0x9E37_79B9_7F4A_7C15
        var position = 0
        while position + 8 <= raw.count {
            hash = (hash ^ raw.loadUnaligned(fromByteOffset: position, as: UInt64.self)) &* 0x9FB2_1C65_1E98_DF25
            hash ^= hash >> 32
            position += 8
        }
        while position < raw.count {
            hash = (hash ^ UInt64(raw[position])) &* 0x9FB2_1C65_1E98_DF25
            position += 1
        }
        return hash ^ hash >> 29
    }
}

enum SameBytes {
    static func equal(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Bool {
        guard a.count == b.count, let left = a.baseAddress, let right = b.baseAddress else {
            return a.isEmpty && b.isEmpty
        }
        return memcmp(left, right, a.count) == 0
    }
}
