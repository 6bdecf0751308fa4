/// Errors of the health store.
package enum HealthStoreError: Error, Equatable, CustomStringConvertible {
    /// The store was written by a later version.
    case newerSchema(found: Int, known: Int)
    /// A transaction of this session was rolled back, so the session's claims no longer match the store.
    case sessionUndone(source: String)
    /// A batch whose columns don't fit together.
    case malformedBatch(String)
    /// A row refers to a user, type, unit or origin that the store doesn't have.
    case danglingName(table: String, id: Int)
    /// A block of samples whose content can't be read, with its last sequence.
    case damagedBlock(Int64)
    /// The stored record of an export's piece can't be read.
    case damagedPiece
    /// A document's part that is out of order.
    case brokenDocument
    /// The stored record of which rows came from which origin can't be read.
    case damagedNotes
    /// A string that should be a local date but isn't.
    case badDate(String)

    package var description: String {
        switch self {
        case .newerSchema(let found, let known):
            "the health store has layout \(found), but this version supports only \(known); use the newer version, or restore a backup"
        case .sessionUndone(let source):
            "the import of \(source) lost a transaction; start it again from the beginning: nothing is stored twice"
        case .malformedBatch(let what): "a batch of records is malformed: \(what); this is a bug in the importer"
        case .danglingName(let table, let id):
            "the health store is damaged: no row \(id) in \(table); restore it from a backup, or move it away to start from scratch"
        case .damagedBlock(let last):
            "the health store is damaged: the samples up to \(last) can't be read; restore it from a backup, or move it away to start from scratch"
        case .damagedPiece:
            "the health store is damaged: its table 'pieces' can't be read; restore it from a backup, or move it away to start from scratch"
        case .brokenDocument:
            "a part of a document doesn't follow the one before it; this is a bug in the importer: import the file again"
        case .damagedNotes:
            "the health store is damaged: its table 'brought' can't be read; restore it from a backup, or move it away to start from scratch"
        case .badDate(let text): "'\(text)' isn't a valid date for an activity summary; write it as 2025-03-30"
        }
    }
}
