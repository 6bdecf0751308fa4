/// A set of person-days, one bit each: a year of a thousand people has hundreds of thousands. Pure.
package struct DaySet {
    package typealias Key = SummaryDays.Key

    /// Blocks of 32 consecutive days, by person and by the number of the first day divided by 32.
    private var blocks: [Int: [String: UInt32]] = [:]
    package private(set) var count = 0

    package var isEmpty: Bool { count == 0 }

    package init() {}

    package init(_ keys: some Sequence<Key>) { for key in keys { insert(key) } }

    package func contains(_ key: Key) -> Bool { bits(Self.block(of: key.day), key.user) & Self.bit(of: key.day) != 0 }

    package mutating func insert(_ key: Key) { add(Self.bit(of: key.day), to: Self.block(of: key.day), key.user) }

    package mutating func remove(_ key: Key) {
        let block = Self.block(of: key.day)
        let old = bits(block, key.user)
        let new = old & ~Self.bit(of: key.day)
        guard new != old else { return }
        count -= 1
        // Empty blocks aren't kept, because the search looks for the newest block.
        if new != 0 {
            blocks[block]?[key.user] = new
        } else if blocks[block]?.count == 1 {
            blocks[block] = nil
        } else {
            blocks[block]?[key.user] = nil
        }
    }

    package mutating func removeAll() { self = DaySet() }

    package mutating func formUnion(_ other: DaySet) {
        for (block, people) in other.blocks {
            for (user, bits) in people { add(bits, to: block, user) }
        }
    }

    package func subtracting(_ other: DaySet) -> DaySet {
        combined { block, user, bits in bits & ~other.bits(block, user) }
    }

    package func intersection(_ other: DaySet) -> DaySet {
        combined { block, user, bits in bits & other.bits(block, user) }
    }

    /// All days, in the order in which `takeNewest` takes them.
    package var sorted: [Key] {
        var all = self
        return all.takeNewest(count)
    }

    /// Takes at most this many days: the newest block first, and within it one person after another, each newest first.
    /// A person's days stay together, since they are delivered together.
    package mutating func takeNewest(_ limit: Int) -> [Key] {
        var taken: [Key] = []
        while taken.count < limit, let block = blocks.keys.max(), let people = blocks[block] {
            let before = taken.count
            for (user, bits) in people.sorted(by: { $0.key < $1.key }) {
                for day in (0..<32).reversed() where taken.count < limit && bits & (1 << UInt32(day)) != 0 {
                    taken.append(Key(user: user, day: block * 32 + day))
                }
            }
            for key in taken[before...] { remove(key) }
        }
        return taken
    }

    private static func block(of day: Int) -> Int { day >> 5 }
    private static func bit(of day: Int) -> UInt32 { 1 << UInt32(day & 31) }

    private func bits(_ block: Int, _ user: String) -> UInt32 { blocks[block]?[user] ?? 0 }

    private mutating func add(_ bits: UInt32, to block: Int, _ user: String) {
        let old = self.bits(block, user)
        guard old | bits != old else { return }
        count += (bits & ~old).nonzeroBitCount
        blocks[block, default: [:]][user] = old | bits
    }

    private func combined(_ change: (Int, String, UInt32) -> UInt32) -> DaySet {
        var result = DaySet()
        for (block, people) in blocks {
            for (user, bits) in people {
                let kept = change(block, user, bits)
                if kept != 0 { result.add(kept, to: block, user) }
            }
        }
        return result
    }
}
