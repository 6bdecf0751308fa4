import HealthModel
import PostgreSQL

/// Samples are partitioned by the year in their ids.
///
/// An id's first 48 bits are its sample's start in milliseconds. So a range of ids is a range of time, the key
/// (user_id, id) contains the partition key as PostgreSQL requires, and a deletion, which states no time, still finds
/// its row.
enum YearPartition {
    /// The years that have partitions of their own; everything else is in `samples_other`.
    static let years = 1990...2099

    /// The year in an id; nil for an id that isn't derived from a time, or for a time outside those years.
    static func year(of id: SampleID) -> Int? {
        let version = id.high >> 12 & 0xF
        guard version == 8 || version == 7 else { return nil }
        let day = Int(id.high >> 16) / 86_400_000
        let year = LocalDay(number: day).year
        return years.contains(year) ? year : nil
    }

    /// The first id of a year.
    static func first(of year: Int) -> SampleID {
        let day = LocalDay(year: year, month: 1, day: 1).number
        return SampleID(high: SampleID.milliseconds(ofSecond: Int64(day) * 86_400) << 16, low: 0)
    }

    /// The set of years in some ids.
    static func years(of ids: some Sequence<SampleID>) -> Set<Int> {
        var years: Set<Int> = []
        // Neighbouring ids are usually from the same year.
        var known: ClosedRange<UInt64>?
        for id in ids {
            if let known, known.contains(id.high >> 16), id.high >> 12 & 0xF == 8 { continue }
            guard let year = year(of: id) else { continue }
            years.insert(year)
            known = first(of: year).high >> 16...(first(of: year + 1).high >> 16) - 1
        }
        return years
    }
}

extension PostgresSchema {
    /// Years that have a partition.
    func partitions(_ connection: PostgresConnection) throws -> Set<Int> {
        let found = try connection.execute(
            """
            SELECT substr(relname, 9) FROM pg_catalog.pg_inherits JOIN pg_catalog.pg_class ON pg_class.oid = inhrelid
            WHERE inhparent = to_regclass($1) AND relname ~ '^samples_[0-9]{4}$'
            """, [table("samples")])
        return Set((0..<found.count).compactMap { found.text($0, 0).flatMap { Int($0) } })
    }

    /// Whether a year's partition can be created. It can't if somebody has detached it, or if the default partition
    /// already contains ids in that range that others stored. Such ids still go into the default partition.
    private func hasRoom(for partition: String, of year: Int, _ connection: PostgresConnection) throws -> Bool {
        let found = try connection.execute(
            """
            SELECT to_regclass($1) IS NULL AND NOT EXISTS (
                SELECT 1 FROM \(table("samples_other")) WHERE id >= $2::uuid AND id < $3::uuid)
            """,
            [table(partition), "\(YearPartition.first(of: year))", "\(YearPartition.first(of: year + 1))"])
        return found.bool(0, 0)
    }

    /// Creates the indexes of manual samples that partitions lack.
    func makeMomentIndexes(_ connection: PostgresConnection) throws {
        let found = try connection.execute(
            """
            SELECT relname FROM pg_catalog.pg_inherits JOIN pg_catalog.pg_class ON pg_class.oid = inhrelid
            WHERE inhparent = to_regclass($1) AND relname ~ '^samples_([0-9]{4}|other)$'
                AND to_regclass($2 || relname || '_moment') IS NULL ORDER BY relname
            """, [table("samples"), table("")])
        for partition in (0..<found.count).compactMap({ found.text($0, 0) }) {
            try make(momentIndex(on: partition), on: partition, connection)
        }
    }

    /// Creates the partitions that are missing and can be created.
    func makePartitions(_ years: [Int], _ connection: PostgresConnection) throws {
        try connection.transaction {
            // Only one process may do this at a time: two attempts to create the same partition would end in an error.
            _ = try connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 1))", ["healthbus " + name])
            let known = try partitions(connection)
            for year in years where !known.contains(year) {
                let partition = "samples_\(year)"
                guard try hasRoom(for: partition, of: year, connection) else { continue }
                try connection.execute(
                    """
                    CREATE TABLE \(table(partition)) PARTITION OF \(table("samples"))
                        FOR VALUES FROM ('\(YearPartition.first(of: year))') TO ('\(YearPartition.first(of: year + 1))');
                    \(momentIndex(on: partition));
                    """)
            }
        }
    }
}
