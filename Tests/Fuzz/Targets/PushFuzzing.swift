import HealthModel
import HealthPush
import Protocol

/// What an app posts: every item becomes rows, a deletion or a quarantined input, and all of it can be sent on.
enum PushFuzzing {
    static func run(_ bytes: [UInt8]) throws {
        for way in WayIn.all {
            for type in way.types {
                // What a header says about aggregation.
                for header in [nil, "none", "day"] {
                    let now = Instant(seconds: 1_790_856_000)
                    let changes = try? way.changes(in: bytes, type: type, now: now) { _ in header }
                    if let changes { try check(changes) }
                }
            }
            _ = way.records(in: String(decoding: bytes, as: UTF8.self))
        }
    }

    private static func check(_ changes: PushedChanges) throws {
        try changes.records.holdTogether()
        try hold(changes.deleted.count == changes.deletedItems.count, "not every deletion has its item")
        let named = Set(changes.records.line + changes.deletedItems + changes.quarantined.map(\.line))
        try hold(named.count == Int(changes.items), "an item was dropped: \(named.count) of \(changes.items)")
        try hold(named.allSatisfy { (1...changes.items).contains($0) }, "there is no such item")
        for input in changes.quarantined {
            try hold(!input.reason.isEmpty && input.raw.utf8.count <= 4200, "a quarantined text is too long")
        }
        var part = IngestPart(id: "x", number: 0, user: "x", device: "x", way: "x")
        part.records = changes.records
        part.deleted = changes.deleted
        part.quarantined = changes.quarantined
        guard let body = try? CBORDecoder.decode(CBOREncoder.encode(part.body)), let again = IngestPart(body) else {
            throw BrokenRule(description: "what was pushed can't travel")
        }
        try hold(again.records.count == changes.records.count, "not every row travels")
    }
}
