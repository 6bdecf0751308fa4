/// Which elements of a batch are still to be sent: the whole batch at first, then ever smaller parts where one is
/// refused.
///
/// One bad element among n is found with about 2 · log2 n requests, and everything around it is delivered.
package struct DeliveryBatch: Sendable, Equatable {
    /// The parts in order; the first is the next to be sent.
    package private(set) var parts: [Range<Int>]
    /// Elements that were refused when sent alone, though they may not be the cause.
    package private(set) var held: [Int] = []
    /// Elements that are being sent again because the backend accepted something after refusing them.
    private var heardAgain: Set<Int> = []

    package init(count: Int) { parts = count > 0 ? [0..<count] : [] }

    /// What to send now; nil when there is nothing, or everything left is held.
    package var next: Range<Int>? { parts.first }

    /// Whether every element is delivered or a dead letter.
    package var isSettled: Bool { parts.isEmpty && held.isEmpty }

    /// Records that the first part is delivered, or has become a dead letter.
    package mutating func settle() {
        if !parts.isEmpty { parts.removeFirst() }
    }

    /// Splits the first part into two halves; a single element stays as it is.
    package mutating func split() {
        guard let part = parts.first, part.count > 1 else { return }
        let middle = part.lowerBound + part.count / 2
        parts.replaceSubrange(0...0, with: [part.lowerBound..<middle, middle..<part.upperBound])
    }

    /// Splits the first part into two halves; a single element is sent after all others.
    package mutating func isolate() {
        guard let part = parts.first, part.count == 1 else { return split() }
        parts.removeFirst()
        parts.append(part)
    }

    /// Splits the first part into pieces of at most `count` elements; the minimum is 1.
    package mutating func split(to count: Int) {
        guard let part = parts.first, part.count > count, count > 0 else { return }
        let pieces = stride(from: part.lowerBound, to: part.upperBound, by: count).map {
            $0..<min($0 + count, part.upperBound)
        }
        parts.replaceSubrange(0...0, with: pieces)
    }

    /// Removes elements that become dead letters from the first part; the rest of it is still to be sent.
    package mutating func remove(_ elements: some Sequence<Int>) {
        guard let part = parts.first else { return }
        var rest: [Range<Int>] = []
        var start = part.lowerBound
        for element in Set(elements).filter(part.contains).sorted() {
            if start < element { rest.append(start..<element) }
            start = element + 1
        }
        if start < part.upperBound { rest.append(start..<part.upperBound) }
        parts.replaceSubrange(0...0, with: rest)
    }

    /// Holds the first part until it is known whether its element is the cause.
    package mutating func hold() {
        guard let part = parts.first else { return }
        parts.removeFirst()
        held += part
    }

    /// Queues the held elements again, but only after all others, whose outcome may reveal more.
    package mutating func release() {
        parts += held.map { $0..<$0 + 1 }
        held = []
    }

    /// Forgets the refusals so far, since the backend was the cause.
    package mutating func forgetHearings() { heardAgain = [] }

    /// Makes dead letters of elements held twice; the others are to be sent again.
    /// - Returns: the elements that become dead letters.
    package mutating func settleHeld() -> [Int] {
        let gone = held.filter(heardAgain.contains)
        held.removeAll(where: heardAgain.contains)
        heardAgain.formUnion(held)
        release()
        return gone
    }
}
