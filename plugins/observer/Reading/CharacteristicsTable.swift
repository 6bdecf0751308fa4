import HealthModel
import SQLite

/// What is known about the users themselves (`dateOfBirth`; `ownTypes`, how their own types are aggregated): part of
/// the observer's changelog, so that every stage sees the same. `members` holds what an export said and what a followed
/// stack has reported; types made here have their own tables.
package enum CharacteristicsTable {
    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS characteristics(
                user TEXT PRIMARY KEY, seq INTEGER NOT NULL, exported INTEGER NOT NULL, members TEXT NOT NULL) WITHOUT ROWID
            """)
    }

    /// What changed in a window, and what is known about `users`; by user.
    static func read(
        _ database: Database, after: SequenceNumber, through: SequenceNumber, users: Set<String>
    ) throws -> [String: Value] {
        var byUser: [String: Value] = [:]
        try database.prepare("SELECT user, seq, members FROM characteristics").forEachRow { row in
            let sequence = SequenceNumber(row.int64(1))
            guard users.contains(row.string(0)) || (sequence > after && sequence <= through) else { return }
            byUser[row.string(0)] = try Value(json: row.bytes(2))
        }
        for (user, types) in try OwnTables.aggregations(
            database, after: after, through: through, users: users.union(byUser.keys))
        {
            // A user's members are sent together: any that are missing count as unknown.
            var members = try byUser[user]?.object ?? known(of: user, in: database)
            // The types of a stack that this one follows are among the members; if names collide, those made here win.
            let followed = members["ownTypes"]?.object ?? [:]
            members["ownTypes"] = .object(followed.merging(types.object ?? [:]) { $1 })
            byUser[user] = .object(members)
        }
        return byUser
    }

    /// A person's own types that a followed stack has reported, by name: `{aggregation, unit}`.
    package static func followedTypes(of user: String, in database: Database) throws -> [String: Value] {
        try known(of: user, in: database)["ownTypes"]?.object ?? [:]
    }

    private static func known(of user: String, in database: Database) throws -> [String: Value] {
        let find = try database.prepare("SELECT members FROM characteristics WHERE user = ?")
        return try find.with(user).firstRow { try Value(json: $0.bytes(0)).object ?? [:] } ?? [:]
    }
}
