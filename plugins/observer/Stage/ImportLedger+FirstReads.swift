import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

/// Which of the store's sequences a person's history came by, when it was read for the first time: what is in them is no news to anyone, however
/// lately it has happened.
struct FirstReads {
    /// The sequences that came by first reads, without the first of each pair; one that isn't over has no end.
    private let spans: [(after: Int64, until: Int64)]

    init(_ database: Database) throws {
        var spans: [(after: Int64, until: Int64)] = []
        let isThere =
            try database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'first_reads'").firstRow { _ in true }
            ?? false
        // A store of an earlier release has none until its own program has opened it.
        if isThere {
            try database.prepare("SELECT after, until FROM first_reads").forEachRow {
                spans.append(($0.int64(0), $0.isNull(1) ? .max : $0.int64(1)))
            }
        }
        self.spans = spans
    }

    /// Whether any of these sequences, without the first, came by one.
    func touches(after: Int64, through: Int64) -> Bool { spans.contains { $0.after < through && after < $0.until } }
}

extension ImportLedger {
    /// The first file of a person that is taken in is history, however much of it there is.
    func noteFirst(_ entry: Entry, _ turn: Turn) throws {
        let isFirst = !entries.contains {
            $0.user == entry.user && $0.id != entry.id && $0.state == .closed && $0.plan?.isTryingOut != true
        }
        guard isFirst else { return }
        // After a crash it goes on from where it began.
        let write = try turn.write().database.prepare(
            """
            INSERT INTO first_reads(user, after) VALUES (?, ?)
            ON CONFLICT (user) DO UPDATE SET after = min(after, excluded.after), until = NULL
            """)
        write.bind(1, entry.user)
        write.bind(2, turn.head.sequence)
        try write.run()
    }

    /// It has been read: what comes from now on is news.
    func endFirst(_ entry: Entry, _ turn: Turn) throws {
        let write = try turn.write().database.prepare(
            "UPDATE first_reads SET until = ? WHERE user = ? AND until IS NULL")
        write.bind(1, turn.head.sequence)
        write.bind(2, entry.user)
        try write.run()
    }
}
