import Changelog
import HealthModel
import Protocol

/// A topic's changes in one turn, of which its hint lists the first few. Pure.
struct Hinted {
    let topic: String
    private var changed: [HintedChange] = []
    private var more = 0

    /// Comparing a row with its former content costs more than writing it, so that the days of an import are only
    /// counted.
    private static let most = 8

    init(topic: String) { self.topic = topic }

    var isFull: Bool { changed.count == Self.most }

    mutating func add(_ change: HintedChange) {
        // A day's events are announced together.
        if let place = changed.firstIndex(where: { $0.user == change.user && $0.day == change.day }) {
            changed[place].names = Set(changed[place].names + change.names).sorted()
        } else {
            changed.append(change)
        }
    }

    mutating func countOne() { more += 1 }

    func hint(before: SequenceNumber, head: StoreHead) -> Hint {
        var hint = Hint(head: head)
        guard !changed.isEmpty else { return hint }
        hint.after = before
        hint.changed = changed
        hint.more = more > 0 ? more : nil
        return hint
    }
}

extension Turn {
    /// Writes a row of the stage's own changelog and, if that changes anything, announces it on its topic with whose
    /// day it is and which figures changed.
    /// - Returns: whether it changed anything.
    @discardableResult
    package func put(
        key: String, topic: String, stored: String? = nil, user: String, day: Int?, body: Value
    ) throws -> Bool {
        try announcing(topic, user: user, day: day, new: body) { replacing in
            try changelog.put(
                key: key, topic: stored ?? topic, user: user, day: day, body: body, replacing: replacing)
        }
    }

    /// Turns such a row into a tombstone, and announces that on `topic`.
    package func remove(key: String, topic: String, user: String, day: Int?) throws {
        try announcing(topic, user: user, day: day, new: nil) { try changelog.remove(key: key, replacing: $0) }
    }

    @discardableResult
    private func announcing(
        _ topic: String, user: String, day: Int?, new: Value?, _ write: (((Value?) -> Void)?) throws -> Bool
    ) throws -> Bool {
        var change: HintedChange?
        let isListed = !(hinted.first { $0.topic == topic }?.isFull ?? false)
        let isChanged = try write(
            isListed ? { change = HintedChange(topic: topic, user: user, day: day, from: $0, to: new) } : nil)
        guard isChanged else { return false }
        let place = hintedPlace(of: topic)
        if let change { hinted[place].add(change) } else { hinted[place].countOne() }
        return true
    }
}
