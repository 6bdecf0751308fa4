import HealthImport
import HealthModel
import Protocol

/// What the observer asks its host to do.
package enum ObserverEffect: Sendable {
    /// Bring a file into the inbox: by a link if possible, otherwise as a copy. If `file` is given, this is done only
    /// if that is the file at the path.
    case adopt(id: String, path: String, file: FileIdentity?)
    /// Report how much of a file that comes over the bus has arrived.
    case measure(id: String)
    /// Write pieces of it; after the last ones, check the whole file's size and hash.
    case append(id: String, FilePieces)
    /// Read a file in the inbox from its beginning; `path` is the file's path before it came into the inbox. Known
    /// pieces, given with the number of records in each, needn't be read.
    case read(id: String, path: String, known: [PieceHash: Int])
    /// Stop the effect with that number, which reads a file: its result is no longer needed.
    case abandon(reading: Int64)
    /// Report complete files in this folder from now on.
    case watch(folder: String)
    /// Move one of these files out of the folder.
    case settle(DropSettlement)
    /// Remove files from the inbox.
    case discard(Discarded)

    package enum Discarded: Sendable {
        /// The file of a session that has been closed. Only that one: others may arrive while it is being removed.
        case file(id: String)
        /// Whatever no open session refers to: at the start, before anything can arrive.
        case everything(besides: Set<String>)
    }
}

/// The result of a step in bringing a file into the inbox.
package enum FileStep: Sendable, Equatable {
    case adopted(id: String)
    /// It can't be opened here, or a different file is at that path.
    case elsewhere(id: String, reason: String)
    case failed(id: String, reason: String)
    /// This much of it is there.
    case stored(id: String, length: Int64)
    /// All of it is there, as it was sent.
    case whole(id: String)
    /// All of it is there, but isn't what was sent: it has been discarded.
    case differs(id: String)
}

/// The results of reading a file, piece by piece.
package enum ImportEvent: Sendable {
    case found(ExportEvent)
    case finished(ReadSummary)
    case unreadable(reason: String)
}
