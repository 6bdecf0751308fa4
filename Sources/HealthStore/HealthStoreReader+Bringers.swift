import HealthModel
import SQLite

extension HealthStoreReader {
    /// The devices that are recorded as having pushed samples, sorted by user and name, each with the ways by which it
    /// sent them.
    package func devices() throws -> [(user: String, device: String, ways: [String])] {
        // A store from an earlier release has no such records.
        guard try database.hasTable("bringers") else { return [] }
        var found: [(user: String, device: String, ways: [String])] = []
        try database.prepare(
            """
            SELECT users.name, bringers.name, way FROM bringers JOIN users ON users.id = bringers.user
            WHERE kind = 'device' AND number IN (SELECT bringer FROM brought) ORDER BY 1, 2, 3
            """
        ).forEachRow { row in
            let (user, device, way) = (row.string(0), row.string(1), row.string(2))
            if found.last?.user == user, found.last?.device == device {
                found[found.count - 1].ways.append(way)
            } else {
                found.append((user, device, [way]))
            }
        }
        return found
    }
}
