import HealthModel
import SQLite

extension HealthStoreReader {
    /// Documents by number, each under all of its names.
    /// - Parameters:
    ///   - user: nil for every user.
    ///   - after: only documents with a higher number; 0 for all.
    ///   - limit: how many documents to return; together they may have more names.
    package func documents(user: String?, after: Int64 = 0, limit: Int) throws -> [StoredDocument] {
        guard try hasDocuments() else { return [] }
        try refresh()
        if let user, users.ids[user] == nil { return [] }
        let list = try database.prepare(
            """
            SELECT number, user, hash, media, bytes, kind, name, reference
            FROM (SELECT * FROM documents WHERE number > ?1 AND whole = 1 AND (?2 IS NULL OR user = ?2)
                  ORDER BY number LIMIT ?3)
            JOIN document_names ON document = number ORDER BY number, kind, key
            """)
        var found: [StoredDocument] = []
        try list.with(after, user.flatMap { users.ids[$0] }, limit).forEachRow { row in
            guard let kind = DocumentKind(rawValue: row.string(5)) else { return }
            let reference = row.isNull(7) ? nil : try Value(json: row.bytes(7)).read(DocumentReference.self)
            let file = DocumentFile(
                kind: kind, name: row.string(6), mediaType: row.string(3), reference: reference)
            found.append(
                StoredDocument(
                    number: row.int64(0), user: try users.name(row.int(1)), file: file, bytes: row.int64(4),
                    hash: row.bytes(2)))
        }
        return found
    }

    /// The content of a document, from an offset on; nil when there is no such document.
    /// - Parameter limit: the maximum number of bytes to return. Fewer bytes are returned at the end of a part, and
    ///   none at the end of the document.
    /// - Returns: the bytes, and the size and hash of the whole document.
    package func document(
        _ number: Int64, from offset: Int64, limit: Int
    ) throws -> (bytes: [UInt8], size: Int64, hash: [UInt8])? {
        guard try hasDocuments() else { return nil }
        let find = try database.prepare("SELECT bytes, hash FROM documents WHERE number = ? AND whole = 1")
        guard let (size, hash) = try find.with(number).firstRow({ ($0.int64(0), $0.bytes(1)) }) else { return nil }
        let read = try database.prepare(
            """
            SELECT substr(content, ?2 - first + 1, ?3) FROM document_parts
            WHERE document = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1
            """)
        let bytes =
            offset < 0 || offset >= size ? [] : try read.with(number, offset, limit).firstRow { $0.bytes(0) } ?? []
        return (bytes, size, hash)
    }

    /// A store from an earlier release has no such tables until this release's observer has opened it.
    private func hasDocuments() throws -> Bool {
        try database.hasTable("document_names")
    }
}
