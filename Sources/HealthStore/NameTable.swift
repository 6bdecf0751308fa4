import HealthModel
import SQLite

/// The writer's table of names to which rows refer by number.
final class NameTable {
    private let find: Statement
    private let add: Statement
    private let database: Database
    private var ids: [String: Int] = [:]
    private let list: Statement
    private let table: String
    private let read: Statement
    /// How many names in the table were invented by inputs; nil until first needed.
    private var madeUp: Int?
    private let isKnown: (String) -> Bool

    /// The maximum number of names that inputs may invent, because every process that receives types or units keeps
    /// them in memory.
    static let limit = 1000
    /// The maximum length of a name, in bytes of UTF-8.
    static let longest = 200

    /// - Parameter isKnown: whether a name is known, rather than invented by an input.
    init(_ table: String, in database: Database, isKnown: @escaping (String) -> Bool = { _ in false }) throws {
        (self.database, self.isKnown, self.table) = (database, isKnown, table)
        read = try database.prepare("SELECT name FROM \(table) WHERE id = ?")
        list = try database.prepare("SELECT name FROM \(table)")
        find = try database.prepare("SELECT id FROM \(table) WHERE name = ?")
        add = try database.prepare("INSERT INTO \(table) (name) VALUES (?)")
    }

    /// Names added by a transaction that was rolled back no longer exist.
    func forget() {
        ids.removeAll()
        madeUp = nil
    }

    /// Which of these names aren't stored, because there are too many others or because they are too long.
    /// - Parameter new: names that count as if they were already in the table; any names from `names` that are accepted
    ///   are added to them.
    func refused(_ names: [String], besides new: inout Set<String>) throws -> Set<String> {
        var refused: Set<String> = []
        for name in names {
            if isKnown(name) || new.contains(name) { continue }
            if try existing(name) != nil { continue }
            let count = try countMadeUp()
            if name.utf8.count > Self.longest || count + new.count >= Self.limit {
                refused.insert(name)
            } else {
                new.insert(name)
            }
        }
        return refused
    }

    private func countMadeUp() throws -> Int {
        if let madeUp { return madeUp }
        var count = 0
        try list.forEachRow { if !isKnown($0.string(0)) { count += 1 } }
        madeUp = count
        return count
    }

    func existing(_ name: String) throws -> Int? {
        if let id = ids[name] { return id }
        guard let id = try find.with(name).firstRow({ $0.int(0) }) else { return nil }
        ids[name] = id
        return id
    }

    func name(_ id: Int) throws -> String {
        read.bind(1, id)
        guard let name = try read.firstRow({ $0.string(0) }) else {
            throw HealthStoreError.danglingName(table: table, id: id)
        }
        return name
    }

    func id(_ name: String) throws -> Int {
        if let id = try existing(name) { return id }
        try add.with(name).run()
        if let count = madeUp, !isKnown(name) { madeUp = count + 1 }
        let id = Int(database.lastInsertedRow)
        ids[name] = id
        return id
    }
}

/// The writer's table of origins to which rows refer by number.
final class OriginTable {
    private let find: Statement
    private let read: Statement
    private let ofSource: Statement
    private let add: Statement
    private let database: Database
    private var ids: [Origin: Int] = [:]
    private var origins: [Int: Origin] = [:]
    private var joins: [SIMD2<Int>: Int] = [:]
    // Long histories have thousands of origins (one for each system version), but the caches don't grow with them.
    private static let limit = 20_000
    private static let byteLimit = 8 << 20
    private var bytes = 0

    init(in database: Database) throws {
        self.database = database
        find = try database.prepare(
            "SELECT id FROM origins WHERE source = ? AND version = ? AND product = ? AND device = ?")
        ofSource = try database.prepare("SELECT id FROM origins WHERE source = ?")
        read = try database.prepare("SELECT source, version, product, device FROM origins WHERE id = ?")
        add = try database.prepare("INSERT INTO origins (source, version, product, device) VALUES (?, ?, ?, ?)")
    }

    func forget() {
        ids.removeAll()
        origins.removeAll()
        joins.removeAll()
        bytes = 0
    }

    func id(_ origin: Origin) throws -> Int {
        if let id = ids[origin] { return id }
        if ids.count > Self.limit || bytes > Self.byteLimit { forget() }
        bytes += origin.byteCount
        let known = try find.with(origin).firstRow { $0.int(0) }
        if known == nil { try add.with(origin).run() }
        let id = known ?? Int(database.lastInsertedRow)
        ids[origin] = id
        origins[id] = origin
        return id
    }

    /// Combines two descriptions of a sample's origin: it uses the row's source name and, for each other part, the more
    /// detailed of the two.
    func joined(_ row: Int, _ incoming: Int) throws -> Int {
        if row == incoming { return row }
        let key = SIMD2(row, incoming)
        if let id = joins[key] { return id }
        if joins.count > Self.limit || origins.count > Self.limit { forget() }
        let a = try origin(row)
        let b = try origin(incoming)
        let id = try id(
            Origin(
                sourceName: a.sourceName, sourceVersion: richer(a.sourceVersion, b.sourceVersion),
                productType: richer(a.productType, b.productType), device: richer(a.device, b.device)))
        joins[key] = id
        return id
    }

    /// The same origin under another name of its source.
    func named(_ origin: Int, _ name: String) throws -> Int {
        var named = try self.origin(origin)
        guard named.sourceName != name else { return origin }
        named.sourceName = name
        return try id(named)
    }

    /// The numbers of the origins that have no source name.
    func unnamed() throws -> Set<Int> {
        try Set(Origin.unnamedSources.flatMap { try ofSource.with($0).rows { $0.int(0) } })
    }

    func origin(_ id: Int) throws -> Origin {
        if let origin = origins[id] { return origin }
        let origin = try read.with(id).firstRow {
            Origin(
                sourceName: $0.string(0), sourceVersion: $0.string(1), productType: $0.string(2), device: $0.string(3))
        }
        guard let origin else { throw HealthStoreError.danglingName(table: "origins", id: id) }
        if bytes > Self.byteLimit { forget() }
        bytes += origin.byteCount
        origins[id] = origin
        return origin
    }

    /// The longer string or, if both are equally long, the one that is greater by bytes; the result doesn't depend on
    /// their order.
    private func richer(_ a: String, _ b: String) -> String {
        if a.utf8.count != b.utf8.count { return a.utf8.count > b.utf8.count ? a : b }
        return a.utf8.lexicographicallyPrecedes(b.utf8) ? b : a
    }
}

extension Statement {
    fileprivate func with(_ origin: Origin) -> Statement {
        with(origin.sourceName, origin.sourceVersion, origin.productType, origin.device)
    }
}

extension Origin {
    /// The length of its strings in UTF-8 bytes, plus a little overhead.
    var byteCount: Int {
        64 + sourceName.utf8.count + sourceVersion.utf8.count + productType.utf8.count + device.utf8.count
    }
}
