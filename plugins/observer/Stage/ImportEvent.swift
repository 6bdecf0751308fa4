import HealthImport
import HealthModel

/// What the observer asks its host to do.
package enum ObserverEffect: Sendable {
    /// Bring a file into the inbox: a link where that can be, else a copy.
    case adopt(id: String, path: String)
    /// Read a file of the inbox from its beginning; `path` is its name before it came there.
    case read(id: String, path: String)
    /// Remove files of the inbox.
    case discard(Discarded)

    package enum Discarded: Sendable {
        /// The file of a session that has closed. Only that: while it is removed, others come in.
        case file(id: String)
        /// Whatever no open session names: at the start, before anything can come in.
        case everything(besides: Set<String>)
    }
}

/// What comes of it, piece by piece.
package enum ImportEvent: Sendable {
    case adopted(id: String)
    case notAdopted(id: String, reason: String)
    case info(id: String, ExportInfo)
    case records(id: String, RecordBatch)
    case quarantined(id: String, [QuarantinedInput])
    case summaries(id: String, [ActivitySummaryRecord])
    case route(id: String, WorkoutRoute)
    case progress(id: String, bytesRead: Int64, bytesTotal: Int64)
    case finished(id: String, ReadSummary)
    case unreadable(id: String, reason: String)
}
