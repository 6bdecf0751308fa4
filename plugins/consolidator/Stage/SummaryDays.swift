import Changelog
import Configuration
import HealthModel
import Protocol
import SQLite
import StageKit

/// The days and what the handlers reported for them, in the stage's file. Only the set of days that aren't final is in
/// memory, with a few bits for each: while a thousand people import years of data, there are hundreds of thousands of
/// such days.
package struct SummaryDays {
    package struct Key: Hashable {
        package var user: String
        /// Days since 1970.
        package var day: Int

        package init(user: String, day: Int) { (self.user, self.day) = (user, day) }
    }

    struct State: Equatable {
        var isFinal = false
        /// The day's start or end has changed since it was final: it waits for the next mark even if its figures stay
        /// the same.
        var isReopened = false
        /// The day's parts have changed since its summary was written.
        var isUnwritten = false
        /// How often this day has become final with different content.
        var revision: Int64 = 0
        /// The digest of the day's figures when it was last final; nil before that, and for a day that has no figures left.
        var finalContent: String?

        fileprivate var hasFigures: Bool { !isFinal || finalContent != nil }
        /// Whether its state consists only of being open and perhaps unwritten.
        fileprivate var isPlain: Bool { !isFinal && !isReopened && revision == 0 && finalContent == nil }
    }

    /// The days that aren't final.
    private(set) var open = DaySet()
    /// The open days whose states are only in the file.
    private var detailed = DaySet()
    private(set) var unwritten = DaySet()
    /// The number of days that have figures.
    private(set) var count = 0

    /// Identifies a day's figures.
    static func content(of figures: [String: Value]) -> String {
        ContentDigest(Array(Value.object(figures).json().utf8)[...]).description
    }

    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS parts(
                user TEXT NOT NULL, day INTEGER NOT NULL, handler TEXT NOT NULL, stale INTEGER NOT NULL, figures BLOB NOT NULL,
                hourly BLOB, PRIMARY KEY (user, day, handler)) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS days(
                user TEXT NOT NULL, day INTEGER NOT NULL, final INTEGER NOT NULL, revision INTEGER NOT NULL, content TEXT,
                PRIMARY KEY (user, day)) WITHOUT ROWID;
            """)
    }

    mutating func open(_ turn: Turn) throws {
        try digestContents(turn)
        try turn.database.prepare(
            "SELECT user, day, final, revision, content FROM days WHERE final & 3 <> 1 OR final & 4"
        )
        .forEachRow { row in set(Self.key(row), Self.state(row, from: 2)) }
        count =
            try turn.database.prepare("SELECT count(*) FROM days WHERE final & 3 <> 1 OR content IS NOT NULL")
            .firstRow { $0.int(0) } ?? 0
    }

    /// Earlier releases stored the figures themselves.
    private func digestContents(_ turn: Turn) throws {
        let database = try turn.write().database
        let list = try database.prepare("SELECT user, day, content FROM days WHERE content LIKE '{%' LIMIT 1000")
        let update = try database.prepare("UPDATE days SET content = ? WHERE user = ? AND day = ?")
        while true {
            let found = try list.rows { row in
                (Self.key(row), ContentDigest(Array(row.string(2).utf8)[...]).description)
            }
            guard !found.isEmpty else { return }
            for (key, content) in found { try update.with(content, key.user, key.day).run() }
        }
    }

    /// A day's state; nil for an unknown day.
    func state(of key: Key, _ turn: Turn) throws -> State? {
        if open.contains(key), !detailed.contains(key) { return State(isUnwritten: unwritten.contains(key)) }
        return try turn.database.prepare("SELECT final, revision, content FROM days WHERE user = ? AND day = ?")
            .with(key.user, key.day).firstRow { Self.state($0, from: 0) }
    }

    /// A user's known days.
    func days(of user: String, _ turn: Turn) throws -> [Key] {
        try turn.database.prepare("SELECT user, day FROM days WHERE user = ?").with(user).rows(Self.key)
    }

    private static func key(_ row: Statement) -> Key { Key(user: row.string(0), day: row.int(1)) }

    private static func state(_ row: Statement, from column: Int) -> State {
        let word = row.int(column)
        return State(
            isFinal: word & 3 == 1, isReopened: word & 3 == 2, isUnwritten: word & 4 == 4,
            revision: row.int64(column + 1), finalContent: row.isNull(column + 2) ? nil : row.string(column + 2))
    }

    private mutating func set(_ key: Key, _ state: State?) {
        if let state, !state.isFinal { open.insert(key) } else { open.remove(key) }
        if let state, !state.isFinal, !state.isPlain { detailed.insert(key) } else { detailed.remove(key) }
        if state?.isUnwritten == true { unwritten.insert(key) } else { unwritten.remove(key) }
    }

    mutating func save(_ key: Key, _ state: State?, _ turn: Turn) throws {
        let old = try self.state(of: key, turn)
        guard old != state else { return }
        set(key, state)
        count += (state?.hasFigures == true ? 1 : 0) - (old?.hasFigures == true ? 1 : 0)
        let database = try turn.write().database
        guard let state else {
            return try database.prepare("DELETE FROM days WHERE user = ? AND day = ?").with(key.user, key.day).run()
        }
        let word = (state.isFinal ? 1 : state.isReopened ? 2 : 0) | (state.isUnwritten ? 4 : 0)
        try database.prepare("INSERT OR REPLACE INTO days VALUES (?, ?, ?, ?, ?)")
            .with(key.user, key.day, word, state.revision, state.finalContent).run()
    }

    /// Makes a final day wait to become final again.
    mutating func reopen(_ key: Key, _ turn: Turn) throws {
        guard var state = try state(of: key, turn) else { return }
        state.isFinal = false
        state.isReopened = true
        try save(key, state, turn)
    }

    /// Earlier releases stored no hourly figures. Returns true if the column for hourly figures was added just now, so
    /// that every handler must be read again.
    static func makeRoomForHours(in database: Database) throws -> Bool {
        guard try !database.hasColumn("hourly", in: "parts") else { return false }
        try database.execute("ALTER TABLE parts ADD COLUMN hourly BLOB")
        return true
    }

    /// Stores a handler's figures for a day; nil when it no longer has any.
    func put(_ body: FiguresBody?, key: Key, handler: String, _ turn: Turn) throws {
        let database = try turn.write().database
        guard let body else {
            return try database.prepare("DELETE FROM parts WHERE user = ? AND day = ? AND handler = ?")
                .with(key.user, key.day, handler).run()
        }
        let hourly = body.hourly.flatMap { $0.object?.isEmpty == false ? CBOREncoder.encode($0) : nil }
        try database.prepare(
            "INSERT OR REPLACE INTO parts(user, day, handler, stale, figures, hourly) VALUES (?, ?, ?, 0, ?, ?)"
        ).with(key.user, key.day, handler, CBOREncoder.encode(body.figures), hourly).run()
    }

    /// Forgets a handler's figures for the users' days that aren't in `seen`, and returns the days it changed.
    func drop(
        handler: String, users: Set<String>, days: ClosedRange<Int>, besides seen: DaySet, _ turn: Turn
    ) throws -> [Key] {
        let list = try turn.database.prepare("SELECT user, day FROM parts WHERE handler = ? AND day BETWEEN ? AND ?")
        var gone: [Key] = []
        try list.with(handler, days.lowerBound, days.upperBound).forEachRow { row in
            let key = Self.key(row)
            if users.contains(key.user), !seen.contains(key) { gone.append(key) }
        }
        for key in gone { try put(nil, key: key, handler: handler, turn) }
        return gone
    }

    /// The member with the hourly figures.
    static let hoursMember = "hours"

    /// A summary's own members, which aren't handlers' figures.
    static let ownMembers = FigureDeclaration.reserved

    /// All handlers' figures for a day, as members of its summary. If two share a name, the first handler by name wins.
    func figures(of key: Key, _ turn: Turn) throws -> (members: [String: Value], collisions: [FigureCollision]) {
        let read = try turn.database.prepare(
            "SELECT handler, figures FROM parts WHERE user = ? AND day = ? ORDER BY handler")
        var members: [String: Value] = [:]
        var owners: [String: String] = [:]
        var collisions: [FigureCollision] = []
        try read.with(key.user, key.day).forEachRow { row in
            let handler = row.string(0)
            for (figure, value) in try CBORDecoder.decode(row.bytes(1)).object ?? [:] {
                if Self.ownMembers.contains(figure) || owners[figure] != nil {
                    collisions.append(FigureCollision(figure: figure, handler: handler, taken: owners[figure]))
                } else {
                    members[figure] = value
                    owners[figure] = handler
                }
            }
        }
        return (members, collisions)
    }

    /// All handlers' hourly figures for a day: lists of equal length by name, and `start`, when each hour begins; nil
    /// if there are none. If two share a name, the first wins. A list of a different length was computed with different
    /// zones and will soon be replaced: it is left out.
    func hours(of key: Key, _ zones: ZoneTimeline, _ turn: Turn) throws -> Value? {
        let read = try turn.database.prepare(
            "SELECT hourly FROM parts WHERE user = ? AND day = ? AND hourly IS NOT NULL ORDER BY handler")
        let starts = zones.hours(of: LocalDay(number: key.day)).map(\.lowerBound)
        var lists: [String: Value] = [:]
        try read.with(key.user, key.day).forEachRow { row in
            for (name, list) in try CBORDecoder.decode(row.bytes(0)).object ?? [:]
            where name != Self.startsMember && lists[name] == nil && list.array?.count == starts.count {
                lists[name] = list
            }
        }
        guard !lists.isEmpty else { return nil }
        lists[Self.startsMember] = .array(starts.map { .string(zones.localText(of: $0)) })
        return .object(lists)
    }

    private static let startsMember = "start"

    /// Prepares for a snapshot: anything not seen again by its end is gone.
    func markStale(handler: String, _ turn: Turn) throws {
        try turn.write().database.prepare("UPDATE parts SET stale = 1 WHERE handler = ?").with(handler).run()
    }

    /// After a snapshot: drops what wasn't seen again, and returns the days it changed.
    func dropStale(handler: String, _ turn: Turn) throws -> [Key] {
        let database = try turn.write().database
        let keys = try database.prepare("SELECT user, day FROM parts WHERE handler = ? AND stale = 1")
            .with(handler).rows(Self.key)
        try database.prepare("DELETE FROM parts WHERE handler = ? AND stale = 1").with(handler).run()
        return keys
    }
}
