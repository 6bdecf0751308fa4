import HealthModel
import SQLite

/// The tables of documents: files that come with an export's samples and are kept whole.
///
/// Content is stored once per person and identified by its hash, however many files contain it (`document_names`). Long
/// content arrives in parts, over several transactions. Until the last part is stored, the document's `whole` is 0 and
/// readers don't see the document.
final class DocumentTable {
    /// The maximum number of names recorded for the same content: for example, there could be any number of empty
    /// files.
    static let mostNames = 16

    static let tables = [
        """
        CREATE TABLE IF NOT EXISTS documents (number INTEGER PRIMARY KEY, user INTEGER NOT NULL, hash BLOB NOT NULL,
          media TEXT NOT NULL, bytes INTEGER NOT NULL, whole INTEGER NOT NULL)
        """,
        "CREATE UNIQUE INDEX IF NOT EXISTS documents_content ON documents (user, hash) WHERE whole = 1",
        // The position at which each part begins.
        """
        CREATE TABLE IF NOT EXISTS document_parts (document INTEGER NOT NULL, first INTEGER NOT NULL,
          content BLOB NOT NULL, PRIMARY KEY (document, first))
        """,
        // `key` distinguishes a file from others of its kind. It is the identifier in whatever refers to the file or,
        // failing that, the file's name, which may change from export to export.
        """
        CREATE TABLE IF NOT EXISTS document_names (document INTEGER NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
          name TEXT NOT NULL, reference TEXT, PRIMARY KEY (document, kind, key)) WITHOUT ROWID
        """,
    ]

    /// The document whose parts are being received.
    private struct Open {
        var number: Int64
        /// The bytes received so far.
        var length: Int64 = 0
    }

    private let database: Database
    private let find: Statement
    private let begin: Statement
    private let addPart: Statement
    private let close: Statement
    private let setName: Statement
    /// Nil between documents.
    private var open: Open?

    init(in database: Database) throws {
        self.database = database
        find = try database.prepare("SELECT number FROM documents WHERE user = ? AND hash = ? AND whole = 1")
        begin = try database.prepare(
            "INSERT INTO documents(user, hash, media, bytes, whole) VALUES (?, x'', ?, 0, 0)")
        addPart = try database.prepare("INSERT INTO document_parts VALUES (?, ?, ?)")
        close = try database.prepare("UPDATE documents SET hash = ?, bytes = ?, whole = 1 WHERE number = ?")
        setName = try database.prepare(
            """
            INSERT INTO document_names(document, kind, key, name, reference)
            SELECT ?1, ?2, ?3, ?4, ?5
            WHERE (SELECT count(*) FROM document_names WHERE document = ?1) < \(Self.mostNames)
               OR EXISTS (SELECT 1 FROM document_names WHERE document = ?1 AND kind = ?2 AND key = ?3)
            ON CONFLICT (document, kind, key) DO UPDATE SET name = excluded.name, reference = excluded.reference
            WHERE name <> excluded.name OR reference IS NOT excluded.reference
            """)
    }

    var isReceiving: Bool { open != nil }

    /// Parts that were received in a transaction that was rolled back no longer exist.
    func forget() { open = nil }

    /// Stores a document, or a part of a long one.
    /// - Returns: whether this part completes the document and the document is new.
    func add(_ part: DocumentPart, user: Int) throws -> Bool {
        if part.offset == 0 {
            try dropUnfinished()
            if let end = part.end, try isKnown(end.hash, as: part.file, user: user) { return false }
            try begin.with(user, part.file.mediaType).run()
            open = Open(number: database.lastInsertedRow)
        }
        guard var document = open, document.length == part.offset else { throw HealthStoreError.brokenDocument }
        if !part.bytes.isEmpty {
            try addPart.with(document.number, document.length, part.bytes).run()
            document.length += Int64(part.bytes.count)
        }
        open = document
        guard let end = part.end else { return false }
        if try isKnown(end.hash, as: part.file, user: user) {
            try dropUnfinished()
            return false
        }
        open = nil
        try close.with(end.hash, document.length, document.number).run()
        try name(document.number, part.file)
        return true
    }

    /// Whether a document with this content is stored; if so, it gets the file's name.
    private func isKnown(_ hash: [UInt8], as file: DocumentFile, user: Int) throws -> Bool {
        guard let known = try find.with(user, hash).firstRow({ $0.int64(0) }) else { return false }
        try name(known, file)
        return true
    }

    private func name(_ document: Int64, _ file: DocumentFile) throws {
        let identifier = file.reference?.identifier ?? ""
        try setName.with(
            document, file.kind.rawValue, identifier.isEmpty ? file.name : identifier, file.name,
            file.reference.map { Value($0).json() }
        ).run()
    }

    /// Deletes the stored parts of documents whose last part never arrived.
    func dropUnfinished() throws {
        open = nil
        try Self.dropUnfinished(in: database)
    }

    static func dropUnfinished(in database: Database) throws {
        guard try database.prepare("SELECT 1 FROM documents WHERE whole = 0 LIMIT 1").hasRow() else { return }
        try database.execute(
            """
            DELETE FROM document_parts WHERE document IN (SELECT number FROM documents WHERE whole = 0);
            DELETE FROM documents WHERE whole = 0
            """)
    }
}

/// A stored document, under one of its names.
package struct StoredDocument: Sendable, Equatable {
    /// The store's number for the document, higher for each new one; all names for the same content share it.
    package var number: Int64
    package var user: String
    package var file: DocumentFile
    package var bytes: Int64
    /// XXH3-128 of its content, 16 bytes.
    package var hash: [UInt8]
}
