/// A growing buffer that skips an array's checks on every append, because it receives the metadata of a million
/// records.
struct ByteBuffer: ~Copyable {
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 1024) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: base, count: count) }

    func slice(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: bytes[range]) }

    mutating func removeAll() { count = 0 }

    mutating func removeLast(_ number: Int) { count -= number }

    mutating func append(_ byte: UInt8) {
        if count == capacity { grow(1) }
        base[count] = byte
        count += 1
    }

    /// The bytes to append must not be part of this buffer.
    mutating func append(_ more: UnsafeBufferPointer<UInt8>) {
        guard let start = more.baseAddress else { return }
        if count + more.count > capacity { grow(more.count) }
        (base + count).update(from: start, count: more.count)
        count += more.count
    }

    mutating func append(_ more: [UInt8]) { more.withUnsafeBufferPointer { append($0) } }

    private mutating func grow(_ need: Int) {
        let larger = max(capacity * 2, count + need)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        moved.update(from: base, count: count)
        base.deallocate()
        base = moved
        capacity = larger
    }
}
