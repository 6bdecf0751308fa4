import HealthModel
import SQLite

/// The document whose parts are being received.
struct OpenDocument {
    var number: Int64
    /// The bytes received so far.
    var length: Int64 = 0
}

extension HealthStoreWriter {
    /// Stores a document, or a part of a long one. Content that is already known isn't stored again; only the file's
    /// name and its reference are updated to the latest.
    /// - Returns: whether this part completes the document and the document is new.
    /// - Throws: `HealthStoreError.brokenDocument` for parts that aren't consecutive.
    @discardableResult
    package func keep(_ part: DocumentPart) throws -> Bool {
        try change { user in
            if let piece = part.end?.piece { try pieces.note(piece, [], records: 1, user: user) }
            if part.offset == 0 {
                openDocument = nil
                try DocumentTable.dropUnfinished(in: database)
                if let end = part.end, let known = try document(of: end.hash, user: user) {
                    try name(known, part.file)
                    return false
                }
                openDocument = OpenDocument(number: try beginDocument(part.file, user: user))
            }
            guard var open = openDocument, open.length == part.offset else { throw HealthStoreError.brokenDocument }
            try add(part.bytes, to: &open)
            openDocument = open
            guard let end = part.end else { return false }
            openDocument = nil
            if let known = try document(of: end.hash, user: user) {
                try DocumentTable.dropUnfinished(in: database)
                try name(known, part.file)
                return false
            }
            let close = try database.prepare("UPDATE documents SET hash = ?, bytes = ?, whole = 1 WHERE number = ?")
            close.bind(1, end.hash)
            close.bind(2, open.length)
            close.bind(3, open.number)
            try close.run()
            try name(open.number, part.file)
            return true
        }
    }

    /// Deletes the stored parts of documents whose last part never arrived.
    package func dropUnfinishedDocuments() throws {
        openDocument = nil
        try DocumentTable.dropUnfinished(in: database)
    }

    private func document(of hash: [UInt8], user: Int) throws -> Int64? {
        let find = try database.prepare("SELECT number FROM documents WHERE user = ? AND hash = ? AND whole = 1")
        find.bind(1, user)
        find.bind(2, hash)
        return try find.firstRow { $0.int64(0) }
    }

    private func beginDocument(_ file: DocumentFile, user: Int) throws -> Int64 {
        let begin = try database.prepare(
            "INSERT INTO documents(user, hash, media, bytes, whole) VALUES (?, x'', ?, 0, 0)")
        begin.bind(1, user)
        begin.bind(2, file.mediaType)
        try begin.run()
        return database.lastInsertedRow
    }

    private func add(_ bytes: [UInt8], to open: inout OpenDocument) throws {
        guard !bytes.isEmpty else { return }
        let insert = try database.prepare("INSERT INTO document_parts VALUES (?, ?, ?)")
        insert.bind(1, open.number)
        insert.bind(2, open.length)
        insert.bind(3, bytes)
        try insert.run()
        open.length += Int64(bytes.count)
    }

    private func name(_ document: Int64, _ file: DocumentFile) throws {
        let upsert = try database.prepare(
            """
            INSERT INTO document_names(document, kind, key, name, reference)
            SELECT ?1, ?2, ?3, ?4, ?5
            WHERE (SELECT count(*) FROM document_names WHERE document = ?1) < \(DocumentTable.mostNames)
               OR EXISTS (SELECT 1 FROM document_names WHERE document = ?1 AND kind = ?2 AND key = ?3)
            ON CONFLICT (document, kind, key) DO UPDATE SET name = excluded.name, reference = excluded.reference
            WHERE name <> excluded.name OR reference IS NOT excluded.reference
            """)
        let identifier = file.reference?.identifier ?? ""
        upsert.bind(1, document)
        upsert.bind(2, file.kind.rawValue)
        upsert.bind(3, identifier.isEmpty ? file.name : identifier)
        upsert.bind(4, file.name)
        if let reference = file.reference { upsert.bind(5, Value(reference).json()) } else { upsert.bindNull(5) }
        try upsert.run()
    }
}
