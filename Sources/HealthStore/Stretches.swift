import HealthModel
import SQLite

/// The table `stretches`, which lists the stretches of 4,096 sequences in which each type has rows. An export is
/// ordered by type, so a walk for one type can skip nearly everything else. When a row moves to a newer sequence, its
/// old stretch stays listed: the table shows where to look, not what will be found there.
enum Stretches {
    static let table = """
        CREATE TABLE IF NOT EXISTS stretches (type INTEGER NOT NULL, stretch INTEGER NOT NULL, PRIMARY KEY (type, stretch)) WITHOUT ROWID
        """
    private static let shift: Int64 = 12

    static func of(_ sequence: Int64) -> Int64 { sequence >> shift }

    /// Lists the rows of a store made by an earlier release; done once.
    static func fill(in database: Database) throws {
        try database.execute("INSERT OR IGNORE INTO stretches SELECT DISTINCT type, seq >> \(shift) FROM samples")
    }

    /// Moves to the next stretch that has rows of any of the types.
    struct Walk {
        /// If there are more types than this, nearly every stretch has one of them, and the seeks cost more than they
        /// save.
        private static let typeLimit = 64

        private let types: [Int]
        /// nil if every sequence is to be walked.
        private let find: Statement?

        init(of types: [Int], in database: Database) throws {
            self.types = types
            // A store from an earlier release that this release's observer hasn't upgraded yet has no such table.
            find =
                try types.count <= Self.typeLimit && database.hasTable("stretches")
                ? database.prepare("SELECT min(stretch) FROM stretches WHERE type = ? AND stretch >= ?") : nil
        }

        /// The part of (at, through] in the next stretch; nil when there is none.
        func next(behind at: SequenceNumber, through: SequenceNumber) throws -> SequenceWindow? {
            guard let find else { return SequenceWindow(after: at, through: through) }
            let from = Stretches.of(at.value + 1)
            var nearest: Int64?
            for type in types {
                guard let found = try find.with(type, from).firstNumber() else { continue }
                nearest = min(nearest ?? found, found)
                if found == from { break }
            }
            guard let nearest, nearest <= Stretches.of(through.value) else { return nil }
            return SequenceWindow(
                after: SequenceNumber(max(at.value, nearest << Stretches.shift - 1)),
                through: SequenceNumber(min(through.value, (nearest + 1) << Stretches.shift - 1)))
        }
    }
}
