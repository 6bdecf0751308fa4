import HealthImport
import HealthModel

/// Keeps everything that a reader finds, as rows that are easy to inspect.
final class CollectingReceiver {
    struct Row: Equatable {
        var type: String
        var unit: String
        var origin: Origin
        var start: String
        var end: String
        var value: Double
        var created: Int64
        var flags: RecordFlags
        var metadata: String
        var payload: String
        var line: Int64
    }

    struct Stop: Error {}

    var info: ExportInfo?
    var rows: [Row] = []
    var batchSizes: [Int] = []
    /// The pieces of all batches.
    var pieces: [PieceHash] = []
    var known: [PieceHash] = []
    var routePieces: [PieceHash: Int] = [:]
    /// The paths of known routes that were skipped.
    var knownRoutes: [PieceHash: String] = [:]
    var quarantine: [QuarantinedInput] = []
    var summaries: [ActivitySummaryRecord] = []
    var routes: [WorkoutRoute] = []
    var documents: [DocumentPart] = []
    /// The number of rows that had arrived before the first route of a file.
    var rowsBeforeRoutes: Int?
    var lastProgress: (read: Int64, total: Int64) = (0, 0)
    /// Whether to throw at the first batch.
    var refuses = false

    func take(_ event: ExportEvent) throws {
        switch event {
        case .info(let info): self.info = info
        case .records(let batch): try take(batch)
        case .known(let pieces): known += pieces
        case .quarantined(let inputs): quarantine += inputs
        case .summaries(let rows): summaries += rows
        case .route(let route):
            rowsBeforeRoutes = rowsBeforeRoutes ?? rows.count
            routes.append(route)
        case .routeEnded(let piece, _, let points): routePieces[piece] = points
        case .knownRoute(let piece, let path): knownRoutes[piece] = path
        case .document(let part): documents.append(part)
        case .progress(let read, let total): lastProgress = (read, total)
        }
    }

    private func take(_ batch: RecordBatch) throws {
        if refuses { throw Stop() }
        batchSizes.append(batch.count)
        pieces += batch.pieceEnds.compactMap(\.hash)
        for row in 0..<batch.count {
            rows.append(
                Row(
                    type: batch.types[Int(batch.type[row])], unit: batch.units[Int(batch.unit[row])],
                    origin: batch.origins[Int(batch.origin[row])], start: InstantText.iso8601(batch.startOf(row)),
                    end: InstantText.iso8601(batch.endOf(row)), value: batch.value[row], created: batch.created[row],
                    flags: batch.flags[row], metadata: batch.metadata[row], payload: batch.payload[row],
                    line: batch.line[row]))
        }
    }
}
