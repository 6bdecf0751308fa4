import SQLite

/// The properties that many samples share: a row needs only one small number for all of them. Strings are stored as
/// their numbers in `InternedTexts`, 0 for none.
struct SampleKind: Hashable {
    var type: Int64 = 0
    var unit: Int64 = 0
    var source: Int64 = 0
    var isManual = false

    /// What a tombstone keeps of its sample's kind.
    var bare: SampleKind { SampleKind(type: type, isManual: isManual) }
}

/// The numbers of sample kinds. 0 is the kind of a deletion whose sample never arrived.
///
/// Call `forget` after a transaction that didn't commit: numbers assigned in it are gone.
final class SampleKinds {
    private let select: Statement
    private let insert: Statement
    private let reverse: Statement
    private var numbers: [SampleKind: Int64] = [:]
    private var kinds: [Int64: SampleKind] = [:]
    private var last: (kind: SampleKind, number: Int64) = (SampleKind(), 0)
    private static let capacity = 4096

    /// `bare` is the number of the kind's bare form, NULL if it is already bare.
    static let table = """
        CREATE TABLE IF NOT EXISTS kinds(
            id INTEGER PRIMARY KEY, type INTEGER NOT NULL, unit INTEGER NOT NULL, source INTEGER NOT NULL,
            manual INTEGER NOT NULL, bare INTEGER, UNIQUE(type, unit, source, manual));
        """

    init(_ database: Database) throws {
        select = try database.prepare(
            "SELECT id FROM kinds WHERE type = ?1 AND unit = ?2 AND source = ?3 AND manual = ?4")
        insert = try database.prepare(
            "INSERT INTO kinds(type, unit, source, manual, bare) VALUES(?1, ?2, ?3, ?4, ?5) RETURNING id")
        reverse = try database.prepare("SELECT type, unit, source, manual FROM kinds WHERE id = ?1")
    }

    /// The kind's number, assigned now if it is new.
    func number(of kind: SampleKind) throws -> Int64 {
        if kind == last.kind { return last.number }
        let number = try numbers[kind] ?? find(kind) ?? make(kind)
        if numbers.count >= Self.capacity { numbers.removeAll() }
        numbers[kind] = number
        last = (kind, number)
        return number
    }

    private func find(_ kind: SampleKind) throws -> Int64? {
        bind(kind, to: select)
        return try select.firstRow { $0.int64(0) }
    }

    private func make(_ kind: SampleKind) throws -> Int64 {
        let bare = kind == kind.bare ? nil : try number(of: kind.bare)
        bind(kind, to: insert)
        if let bare { insert.bind(5, bare) }
        return try insert.firstRow { $0.int64(0) } ?? 0
    }

    private func bind(_ kind: SampleKind, to statement: Statement) {
        statement.bind(1, kind.type)
        statement.bind(2, kind.unit)
        statement.bind(3, kind.source)
        statement.bind(4, kind.isManual ? 1 : 0)
    }

    /// The kind with this number; an empty kind if the number was never assigned.
    func kind(_ number: Int64) throws -> SampleKind {
        if let kind = kinds[number] { return kind }
        let found = try reverse.with(number).firstRow {
            SampleKind(type: $0.int64(0), unit: $0.int64(1), source: $0.int64(2), isManual: $0.int(3) != 0)
        }
        guard let found else { return SampleKind() }
        if kinds.count >= Self.capacity { kinds.removeAll() }
        kinds[number] = found
        return found
    }

    func forget() {
        numbers.removeAll()
        kinds.removeAll()
        last = (SampleKind(), 0)
    }
}
