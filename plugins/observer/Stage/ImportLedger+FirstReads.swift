import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

extension ImportLedger {
    /// The first file imported for a person is history, however much of it there is.
    func noteFirst(_ entry: Entry, _ turn: Turn) throws {
        let isFirst = try !closedPlans(of: entry.user, besides: entry.id, turn).contains {
            $0.plan?.isTryingOut != true
        }
        guard isFirst else { return }
        // After a crash, the import continues from where it began.
        let write = try turn.write().database.prepare(
            """
            INSERT INTO first_reads(user, after) VALUES (?, ?)
            ON CONFLICT (user) DO UPDATE SET after = min(after, excluded.after), until = NULL
            """)
        try write.with(entry.user, turn.head.sequence.value).run()
    }

    /// Notes that the first file has been read: whatever comes from now on is news.
    func endFirst(_ entry: Entry, _ turn: Turn) throws {
        try turn.write().database.prepare("UPDATE first_reads SET until = ? WHERE user = ? AND until IS NULL")
            .with(turn.head.sequence.value, entry.user).run()
    }
}
