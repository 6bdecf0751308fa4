/// Splits a stream of bytes into lines, and never keeps more than one line, whose length is limited. Pure.
package struct LineSplitter: Sendable {
    package enum Piece: Sendable, Equatable {
        /// The line, without its line feed.
        case line([UInt8])
        /// A line longer than the limit, which was skipped.
        case tooLong
    }

    /// The maximum length of a line, in bytes.
    private let limit: Int
    private var begun: [UInt8] = []
    private var isSkipping = false

    package init(limit: Int) { self.limit = limit }

    /// The lines completed by these bytes.
    package mutating func take(_ bytes: some Collection<UInt8>) -> [Piece] {
        var pieces: [Piece] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0A) {
            add(rest[..<end])
            pieces.append(next())
            rest = rest[rest.index(after: end)...]
        }
        add(rest)
        return pieces
    }

    /// The last line, if it doesn't end with a line feed.
    package mutating func end() -> Piece? { begun.isEmpty && !isSkipping ? nil : next() }

    private mutating func add(_ bytes: some Collection<UInt8>) {
        if begun.count + bytes.count > limit { isSkipping = true }
        if isSkipping { begun.removeAll(keepingCapacity: false) } else { begun.append(contentsOf: bytes) }
    }

    private mutating func next() -> Piece {
        defer {
            begun.removeAll(keepingCapacity: true)
            isSkipping = false
        }
        return isSkipping ? .tooLong : .line(begun)
    }
}
