import HealthModel
import SQLite

/// The tables of documents: files that come with an export's samples and are kept whole.
///
/// Content is stored once per person and identified by its hash, however many files contain it (`document_names`). Long
/// content arrives in parts, over several transactions. Until the last part is stored, the document's `whole` is 0 and
/// readers don't see the document.
enum DocumentTable {
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

    /// Deletes the stored parts of documents whose last part never arrived.
    static func dropUnfinished(in database: Database) throws {
        let open = try database.prepare("SELECT 1 FROM documents WHERE whole = 0 LIMIT 1").firstRow { _ in true }
        guard open == true else { return }
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
