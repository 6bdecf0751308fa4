import HealthModel

/// Receives what a reader finds, on the reader's thread: a call may block, and an error stops the reader.
package typealias ExportReceiver = (ExportEvent) throws -> Void

/// What a reader finds, piece by piece.
package enum ExportEvent: Sendable {
    /// Once, before the first sample.
    case info(ExportInfo)
    /// At most 4,096 rows, or about 1 MiB of text.
    case records(RecordBatch)
    /// Known pieces of records that were skipped, each reported once; known documents aren't reported.
    case known([PieceHash])
    case quarantined([QuarantinedInput])
    case summaries([ActivitySummaryRecord])
    /// Routes in files come after the records of the XML file. A route inside a workout comes right after the workout,
    /// except that all parts but the last of a long one come before it.
    case route(WorkoutRoute)
    /// A route's file was read to its end, and nothing odd was found: it is now a known piece, and needn't be read
    /// again.
    case routeEnded(PieceHash, path: String, points: Int)
    /// A known route was skipped; it has this path, as in its parts.
    case knownRoute(PieceHash, path: String)
    /// Files that are kept whole come after the records of the XML file; the parts of a long one come in order.
    case document(DocumentPart)
    /// Bytes of the input file (compressed bytes, if it is compressed).
    case progress(bytesRead: Int64, bytesTotal: Int64)
}
