import Glibc
import HTTP
import JSON
import SQLite

/// Small integers for repeated strings (users, types, units, sources, devices). 0 means an empty string.
///
/// Call `forget` after a transaction that didn't commit: ids assigned in it are gone.
final class InternedTexts {
    /// Fields whose last string is remembered separately, since the next string is usually the same.
    enum Field: Int, CaseIterable { case type, unit, source }

    private struct Last {
        var bytes: [UInt8] = []
        var id: Int64 = 0
    }

    private let select: Statement
    private let insert: Statement
    private let reverse: Statement
    private var known: [String: Int64] = [:]
    private var last = Field.allCases.map { _ in Last() }
    private static let capacity = 4096

    init(_ database: Database) throws {
        select = try database.prepare("SELECT id FROM texts WHERE text = ?1")
        insert = try database.prepare("INSERT INTO texts(text) VALUES(?1) RETURNING id")
        reverse = try database.prepare("SELECT text FROM texts WHERE id = ?1")
    }

    /// The string's id, assigned now if it is new; 0 for null.
    func id(of span: JSONSpan?, _ field: Field) throws -> Int64 {
        guard let span, span.isString, !span.bytes.isEmpty else { return 0 }
        let slot = field.rawValue
        if span.kind == .string, last[slot].bytes.holds(span.bytes) { return last[slot].id }
        let id = try id(of: span.text ?? "")
        if span.kind == .string { last[slot] = Last(bytes: [UInt8](span.bytes), id: id) }
        return id
    }

    func id(of text: String) throws -> Int64 {
        if let id = try existing(text) { return id }
        insert.bind(1, text)
        let id = try insert.firstRow { $0.int64(0) } ?? 0
        known[text] = id
        return id
    }

    /// The string's id; nil when it was never stored.
    func existing(_ text: String) throws -> Int64? {
        if text.isEmpty { return 0 }
        if let id = known[text] { return id }
        select.bind(1, text)
        guard let id = try select.firstRow({ $0.int64(0) }) else { return nil }
        if known.count >= Self.capacity { known.removeAll() }
        known[text] = id
        return id
    }

    func text(of id: Int64) throws -> String {
        reverse.bind(1, id)
        return try reverse.firstRow { $0.string(0) } ?? ""
    }

    func forget() {
        known.removeAll()
        for slot in last.indices { last[slot] = Last() }
    }
}

extension [UInt8] {
    /// Whether it holds the same bytes.
    func holds(_ text: UnsafeRawBufferPointer) -> Bool {
        count == text.count
            && withUnsafeBytes { own in
                guard let a = own.baseAddress, let b = text.baseAddress else { return text.isEmpty }
                return memcmp(a, b, text.count) == 0
            }
    }
}
