import Glibc
import HealthImport
import HealthModel

/// Imported files: batches are complete, the totals are right, and a second reading that skips known pieces yields the
/// same counts.
enum ExportFuzzing {
    static func run(_ bytes: [UInt8]) throws {
        let file = try NamelessFile(packed(bytes) ?? bytes)
        guard let first = try read(file, known: [:]) else { return }
        guard let again = try read(file, known: first.pieces) else {
            throw BrokenRule(description: "a value that was read can't be read again")
        }
        try hold(again.summary.records == first.summary.records, "with known pieces it counts different records")
        try hold(again.summary.quarantined == first.summary.quarantined, "with known pieces it quarantines others")
        try hold(again.summary.routePoints == first.summary.routePoints, "with known pieces it counts different points")
    }

    /// "@name", a line break and a file's content represent an archive with that file beside an export.
    private static func packed(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.first == UInt8(ascii: "@"), let end = bytes.firstIndex(of: UInt8(ascii: "\n")), end < 512,
            let name = String(validating: bytes[1..<end], as: UTF8.self)
        else { return nil }
        return StoredZip([
            (name: "apple_health_export/export.xml", bytes: Array(export.utf8)),
            (name: name, bytes: Array(bytes[(end + 1)...])),
        ]).bytes
    }

    private static let export = """
        <?xml version="1.0" encoding="UTF-8"?>
        <HealthData locale="en_DE">
         <ExportDate value="2025-04-06 08:15:00 +0200"/>
         <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30" durationUnit="min" sourceName="Watch" \
        startDate="2025-03-30 08:00:00 +0200" endDate="2025-03-30 08:30:00 +0200">
          <WorkoutRoute sourceName="Watch" startDate="2025-03-30 08:00:00 +0200" endDate="2025-03-30 08:30:00 +0200">
           <FileReference path="/workout-routes/route.gpx"/>
          </WorkoutRoute>
         </Workout>
        </HealthData>

        """

    private struct Reading {
        var summary: ReadSummary
        var pieces: [PieceHash: Int]
    }

    /// nil if the input as a whole isn't an export.
    private static func read(_ file: NamelessFile, known: [PieceHash: Int]) throws -> Reading? {
        let receiver = CountingReceiver()
        let summary: ReadSummary
        do {
            summary = try ExportReader(path: "export.zip", file: file.path).read(into: receiver.take, known: known)
        } catch is ImportError {
            return nil
        }
        let rows =
            summary.recordElements + summary.correlations + summary.workouts + summary.otherSamples
            + summary.electrocardiograms
        let passed = receiver.passed.reduce(0) { $0 + (known[$1] ?? 0) }
        try hold(
            receiver.rows + passed == rows, "\(receiver.rows) rows came and \(passed) were passed over, of \(rows)")
        try hold(receiver.quarantined == summary.quarantined, "not everything quarantined arrived")
        try hold(receiver.activitySummaries == summary.activitySummaries, "not all ring summaries came")
        return Reading(summary: summary, pieces: receiver.pieces)
    }
}

/// Examines everything that arrives, and keeps only the counts.
private final class CountingReceiver {
    var rows = 0
    var quarantined = 0
    var activitySummaries = 0
    /// The number of rows in each of the pieces that may be skipped.
    var pieces: [PieceHash: Int] = [:]
    var passed: [PieceHash] = []
    private var rowsOfPiece = 0
    private var infos = 0

    func take(_ event: ExportEvent) throws {
        switch event {
        case .info:
            infos += 1
            try hold(infos == 1, "the export describes itself twice")
        case .records(let batch): try take(batch)
        case .known(let pieces): passed += pieces
        case .quarantined(let inputs):
            quarantined += inputs.count
            for input in inputs {
                try hold(!input.reason.isEmpty && input.raw.utf8.count <= 4200, "a quarantined text is too long")
            }
        case .summaries(let rows): activitySummaries += rows.count
        case .route(let route): try examine(route)
        case .routeEnded(let piece, _, let points): pieces[piece] = points
        case .knownRoute, .document, .progress: break
        }
    }

    private func take(_ batch: RecordBatch) throws {
        try hold(infos == 1, "samples precede the description")
        try hold(batch.count <= 4096, "a batch is too long")
        try batch.holdTogether()
        rows += batch.count
        var begin = 0
        for end in batch.pieceEnds {
            try hold(end.rows >= begin && end.rows <= batch.count, "a piece ends outside its batch")
            rowsOfPiece += end.rows - begin
            if let hash = end.hash { pieces[hash] = rowsOfPiece }
            (begin, rowsOfPiece) = (end.rows, 0)
        }
        rowsOfPiece += batch.count - begin
    }

    private func examine(_ route: WorkoutRoute) throws {
        let columns = [
            route.latitude, route.longitude, route.elevation, route.speed, route.course, route.horizontalAccuracy,
            route.verticalAccuracy,
        ]
        try hold(columns.allSatisfy { $0.count == route.count }, "a route's columns have different lengths")
        try hold(route.count <= WorkoutRoute.pointLimit, "too large a part of a route arrives at once")
    }
}

/// A file without a name, which disappears when this object is released.
private final class NamelessFile {
    private let descriptor: Int32
    var path: String { "/proc/self/fd/\(descriptor)" }

    init(_ bytes: [UInt8]) throws {
        var name = Array("/tmp/healthbus-fuzz-XXXXXX".utf8CString)
        descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw BrokenRule(description: "there is no file for the input: error \(errno)") }
        unlink(name)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw BrokenRule(description: "there is no room for the input: error \(errno)")
        }
    }

    deinit { close(descriptor) }
}
