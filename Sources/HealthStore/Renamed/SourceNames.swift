import HealthModel
import SQLite

/// The tables of what sources are called.
///
/// People rename devices, and apps change their names; from then on, all samples of that source come under the new name.
/// A source is therefore known by its samples: if an export has the samples of a source only under another name, both
/// names belong to one source (`source_links`). Its samples are identified by the name under which it was first seen
/// (`key`), and shown with the name that was seen last.
final class SourceNames {
    static let tables = [
        """
        CREATE TABLE IF NOT EXISTS source_sightings (user INTEGER NOT NULL, name TEXT NOT NULL, first INTEGER NOT NULL,
          last INTEGER NOT NULL, PRIMARY KEY (user, name)) WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS source_links (user INTEGER NOT NULL, name TEXT NOT NULL, other TEXT NOT NULL,
          bringer INTEGER NOT NULL, PRIMARY KEY (user, name, other, bringer)) WITHOUT ROWID
        """,
        // What imports call their sources.
        """
        CREATE TABLE IF NOT EXISTS source_mentions (user INTEGER NOT NULL, bringer INTEGER NOT NULL, name TEXT NOT NULL,
          PRIMARY KEY (user, bringer, name)) WITHOUT ROWID
        """,
        // Names whose samples may not yet have the ids and names that follow from the links.
        "CREATE TABLE IF NOT EXISTS source_work (user INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (user, name)) WITHOUT ROWID",
    ]

    /// In an import, `name` is what the store otherwise calls `other`.
    struct Link: Hashable {
        var name: String
        var other: String
        var bringer: Int
    }

    /// What is known of one user's sources.
    struct Known {
        fileprivate(set) var links: [Link] = []
        /// The names in each import.
        fileprivate(set) var mentions: [Int: Set<String>] = [:]
        /// When each name was first and last seen in an export or a push, in µs since 1970.
        fileprivate(set) var sightings: [String: ClosedRange<Int64>] = [:]
        /// For names that share their source with others: the name by which its samples are identified.
        fileprivate(set) var keys: [String: String] = [:]

        func key(_ name: String) -> String { keys[name] ?? name }

        /// All names of a name's source.
        func group(_ name: String) -> Set<String> {
            guard let key = keys[name] else { return [name] }
            return Set(keys.filter { $0.value == key }.keys)
        }

        /// Whether an import contains both names, so that they belong to two sources, unless they are linked.
        func areTwo(_ name: String, _ other: String) -> Bool {
            key(name) != key(other) && mentions.values.contains { $0.contains(name) && $0.contains(other) }
        }

        /// When a name was first seen; samples stored by an earlier release count as older than everything else.
        func first(_ name: String) -> Int64 { sightings[name]?.lowerBound ?? .min }
        func last(_ name: String) -> Int64 { sightings[name]?.upperBound ?? .min }

        /// For each renamed source, by its key: what the newest export calls it, if that is a single name.
        /// - Parameter dates: when the exports of imports were made.
        func newest(_ dates: [Int: Int64]) -> [String: String] {
            var found: [String: (date: Int64, names: Set<String>)] = [:]
            for (bringer, names) in mentions {
                guard let date = dates[bringer] else { continue }
                for name in names {
                    guard let key = keys[name] else { continue }
                    let held = found[key]
                    if let held, held.date > date { continue }
                    found[key] = held?.date == date ? (date, held?.names.union([name]) ?? []) : (date, [name])
                }
            }
            return found.compactMapValues { $0.names.count == 1 ? $0.names.first : nil }
        }

        fileprivate mutating func connect() {
            if links.isEmpty { return keys = [:] }
            keys = SourceNames.groups(links.map { ($0.name, $0.other) }).mapValues { group in
                group.min { (first($0), $0) < (first($1), $1) } ?? ""
            }
        }
    }

    /// For each name, all names of its source.
    static func groups(_ links: [(String, String)]) -> [String: Set<String>] {
        var groups: [String: Set<String>] = [:]
        for (name, other) in links {
            let group = groups[name, default: [name]].union(groups[other, default: [other]])
            for name in group { groups[name] = group }
        }
        return groups
    }

    private let database: Database
    private let listLinks: Statement
    private let listSightings: Statement
    private let seeName: Statement
    private let addLink: Statement
    private let dropLinks: Statement
    private let dropMentions: Statement
    private let addWork: Statement
    private let findWork: Statement
    private let dropWork: Statement
    private let listMentions: Statement
    private let addMention: Statement
    private var known: [Int: Known] = [:]

    init(in database: Database) throws {
        self.database = database
        listLinks = try database.prepare(
            "SELECT name, other, bringer FROM source_links WHERE user = ? ORDER BY name, other, bringer")
        listSightings = try database.prepare("SELECT name, first, last FROM source_sightings WHERE user = ?")
        seeName = try database.prepare(
            """
            INSERT INTO source_sightings (user, name, first, last) VALUES (?1, ?2, ?3, ?3) ON CONFLICT (user, name)
            DO UPDATE SET first = min(first, excluded.first), last = max(last, excluded.last)
            """)
        addLink = try database.prepare(
            "INSERT OR IGNORE INTO source_links (user, name, other, bringer) VALUES (?, ?, ?, ?)")
        dropLinks = try database.prepare("DELETE FROM source_links WHERE user = ? AND bringer = ?")
        listMentions = try database.prepare("SELECT bringer, name FROM source_mentions WHERE user = ?")
        addMention = try database.prepare("INSERT OR IGNORE INTO source_mentions VALUES (?, ?, ?)")
        dropMentions = try database.prepare("DELETE FROM source_mentions WHERE user = ? AND bringer = ?")
        addWork = try database.prepare("INSERT OR IGNORE INTO source_work VALUES (?, ?)")
        findWork = try database.prepare("SELECT name FROM source_work WHERE user = ?")
        dropWork = try database.prepare("DELETE FROM source_work WHERE user = ? AND name = ?")
    }

    /// What was read during a transaction that was rolled back may be wrong.
    func forget() { known.removeAll() }

    func known(of user: Int) throws -> Known {
        if let known = known[user] { return known }
        var found = Known()
        found.links = try listLinks.with(user).rows {
            Link(name: $0.string(0), other: $0.string(1), bringer: $0.int(2))
        }
        try listSightings.with(user).forEachRow { row in
            found.sightings[row.string(0)] = row.int64(1)...max(row.int64(1), row.int64(2))
        }
        try listMentions.with(user).forEachRow { found.mentions[$0.int(0), default: []].insert($0.string(1)) }
        found.connect()
        known[user] = found
        return found
    }

    /// How much later a name must be seen again for that to be recorded, in µs: pushes come all the time.
    private static let resolution: Int64 = 3_600_000_000

    /// The number of names that are kept: hostile input can have a new one in every record.
    private static let limit = 4000

    /// Records that these names were seen at a moment, in µs since 1970.
    func see(_ names: Set<String>, at moment: Int64, user: Int) throws {
        var known = try known(of: user)
        let hasRoom = known.sightings.count + names.count <= Self.limit
        let new = names.filter { name in
            known.sightings[name].map { moment < $0.lowerBound || moment > $0.upperBound &+ Self.resolution } ?? hasRoom
        }
        guard !new.isEmpty else { return }
        for name in new {
            try seeName.with(user, name, moment).run()
            let held = known.sightings[name] ?? moment...moment
            known.sightings[name] = min(held.lowerBound, moment)...max(held.upperBound, moment)
        }
        let before = known.keys
        known.connect()
        self.known[user] = known
        try need(changedFrom: before, user: user)
    }

    /// Records what an import calls its sources.
    func mention(_ names: Set<String>, by bringer: Int, user: Int) throws {
        let held = known[user]?.mentions[bringer]?.count ?? 0
        guard held + names.count <= Self.limit else { return }
        for name in names { try addMention.with(user, bringer, name).run() }
        known[user]?.mentions[bringer, default: []].formUnion(names)
    }

    /// Records that an import calls renamed sources what the newest other import calls them.
    func inherit(by bringer: Int, dates: [Int: Int64], user: Int) throws {
        let known = try known(of: user)
        guard !known.keys.isEmpty else { return }
        let others = known.mentions.filter { $0.key != bringer && dates[$0.key] != nil }
        guard let newest = others.max(by: { (dates[$0.key] ?? .min, $0.key) < (dates[$1.key] ?? .min, $1.key) }) else {
            return
        }
        try mention(newest.value.filter { known.keys[$0] != nil }, by: bringer, user: user)
    }

    func add(_ link: Link, user: Int) throws {
        let before = try known(of: user).keys
        try addLink.with(user, link.name, link.other, link.bringer).run()
        guard database.changes > 0 else { return }
        known[user] = nil
        try need(changedFrom: before, user: user)
    }

    /// Forgets what these origins have shown.
    func forget(_ bringers: [Int], user: Int) throws {
        let old = try known(of: user)
        let before = old.keys
        for bringer in bringers {
            try dropMentions.with(user, bringer).run()
            try dropLinks.with(user, bringer).run()
        }
        known[user] = nil
        try need(changedFrom: before, user: user)
        // What they called a renamed source may have been its newest name.
        for name in bringers.flatMap({ old.mentions[$0] ?? [] }) where before[name] != nil {
            try need(old.group(name), user: user)
        }
    }

    private func need(changedFrom before: [String: String], user: Int) throws {
        let now = try known(of: user).keys
        try need(Set(before.keys).union(now.keys).filter { before[$0] != now[$0] }, user: user)
    }

    /// The samples under these names have to be checked.
    func need(_ names: Set<String>, user: Int) throws {
        for name in names { try addWork.with(user, name).run() }
    }

    /// The names whose samples have to be checked.
    func work(_ user: Int) throws -> Set<String> {
        Set(try findWork.with(user).rows { $0.string(0) })
    }

    func endWork(_ names: Set<String>, user: Int) throws {
        for name in names { try dropWork.with(user, name).run() }
    }
}
