import CXMLStream
import HealthModel

/// Turns the elements of an export into rows. One for each input; lives on the reader's thread.
final class ExportParser {
    /// An attribute longer than this isn't one that HealthKit wrote.
    static let attributeLimit = 64 * 1024
    /// Metadata, or payload, of one sample.
    static let textLimit = 1 << 20

    /// What the elements that come now belong to.
    enum Context {
        case document, record, correlation, correlatedRecord, tree
    }

    let sink: any ExportSink
    var summary: ReadSummary
    var builder = BatchBuilder()
    var context = Context.document

    // The sample that is being read; rows are appended when their element ends, so that only whole ones are.
    var row = StagedRow()
    var rowProblem: String?
    var rowRaw = ""
    var metadata = MetadataText()
    var payload: [UInt8] = []
    var beats: BeatClock?

    // The correlation, or the workout or other tree, around it.
    var outer = StagedRow()
    var outerProblem: String?
    var outerRaw = ""
    var outerMetadata = MetadataText()
    var parts: [Value] = []
    var tree = TreeBuilder()
    var inlineRoute: WorkoutRoute?
    var inlineRoutePath: String?

    /// Workouts by the route's file that they refer to.
    private(set) var workoutsByRoute: [String: WorkoutRoute.Workout] = [:]
    private var quarantine: [QuarantinedInput] = []
    private var summaries: [ActivitySummaryRecord] = []
    private var locale = ""
    private var exportDate: Instant?
    private var infoIsSent = false
    private var failure: (any Error)?
    private var stream: XMLStream?

    init(sink: any ExportSink, summary: ReadSummary) {
        self.sink = sink
        self.summary = summary
    }

    /// Reads the document. What is wrong with its form goes into the summary; what the sink or the source throws comes out.
    func parse(_ source: any ByteSource, entry: String, total: Int64) throws {
        let stream = try XMLStream(
            root: "HealthData", elements: ExportElement.names, attributes: ExportAttribute.names,
            callbacks: healthbus_xml_callbacks(
                start: { context, element in ExportParser.from(context)?.start(element) },
                end: { context, code, depth in ExportParser.from(context)?.end(ExportElement(rawValue: code), depth) },
                text: nil),
            context: Unmanaged.passUnretained(self).toOpaque())
        self.stream = stream
        defer { self.stream = nil }
        let blocks = ReadAhead(source)
        var archiveDamage: String?
        do {
            while let block = try blocks.next() {
                let goesOn = stream.feed(block.bytes)
                sink.progress(bytesRead: block.position, bytesTotal: total)
                blocks.recycle(block)
                if !goesOn { break }
            }
        } catch let damage as ArchiveDamage {
            archiveDamage = "the archive ends early or is damaged (\(damage.reason))"
        } catch {
            _ = blocks.stop()
            throw error
        }
        summary.charactersReplaced += blocks.stop() + stream.damage.dropped
        if let failure { throw failure }
        try finish()
        summary.damaged = damage(of: stream, entry: entry, archiveDamage: archiveDamage)
    }

    private func damage(of stream: XMLStream, entry: String, archiveDamage: String?) -> Damage? {
        let form = stream.damage
        if form.errors > 0 {
            let what = withUnsafeBytes(of: form.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            return Damage(what: archiveDamage ?? what, entry: entry, line: form.line)
        }
        if let archiveDamage { return Damage(what: archiveDamage, entry: entry, line: stream.line) }
        if !stream.hasRoot { return Damage(what: "the file ends before its HealthData element", entry: entry, line: 0) }
        if !stream.isComplete {
            return Damage(what: "the XML ends before the export does", entry: entry, line: stream.line)
        }
        return nil
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> ExportParser? {
        context.map { Unmanaged<ExportParser>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension ExportParser {
    /// Runs what may throw within a callback; a thrown error stops the parser and comes out of `parse`.
    func attempt(_ body: () throws -> Void) {
        guard failure == nil else { return }
        do { try body() } catch {
            failure = error
            stream?.stop()
        }
    }

    func deliver(_ staged: StagedRow, _ metadata: inout MetadataText, _ payload: [UInt8]) {
        builder.append(staged, metadata: &metadata, payload: payload)
        if builder.isFull { attempt { try flushRecords() } }
    }

    private func flushRecords() throws {
        try sendInfo()
        if builder.batch.count > 0 { try sink.records(builder.take()) }
    }

    func quarantine(line: Int64, _ reason: String, raw: String) {
        summary.quarantined += 1
        quarantine.append(QuarantinedInput(line: line, reason: reason, raw: raw))
        if quarantine.count >= 64 { attempt { try flushQuarantine() } }
    }

    private func flushQuarantine() throws {
        guard !quarantine.isEmpty else { return }
        try sendInfo()
        let inputs = quarantine
        quarantine.removeAll()
        try sink.quarantined(inputs)
    }

    func deliver(_ record: ActivitySummaryRecord) {
        summary.activitySummaries += 1
        summaries.append(record)
        if summaries.count >= 512 { attempt { try flushSummaries() } }
    }

    private func flushSummaries() throws {
        guard !summaries.isEmpty else { return }
        try sendInfo()
        let rows = summaries
        summaries.removeAll()
        try sink.activitySummaries(rows)
    }

    func deliver(_ route: WorkoutRoute) {
        attempt {
            try flushRecords()
            try sink.route(route)
        }
        summary.routePoints += route.count
        if route.firstPoint == 0 { summary.routes += 1 }
    }

    func remember(_ workout: WorkoutRoute.Workout, of route: String) {
        // A life has thousands; more are no reason to fill the memory, only to leave a route without its workout.
        guard workoutsByRoute.count < 50_000 else { return }
        workoutsByRoute[RouteName.normal(route)] = workout
    }

    func note(locale: String) { self.locale = locale }
    func note(exportDate: Instant?) { self.exportDate = exportDate }

    private func sendInfo() throws {
        guard !infoIsSent else { return }
        infoIsSent = true
        try sink.exportInfo(ExportInfo(date: exportDate, locale: locale))
    }

    private func finish() throws {
        try sendInfo()
        try flushRecords()
        try flushQuarantine()
        try flushSummaries()
    }
}

/// One form for a route's path, as a workout refers to it and as the archive has it.
enum RouteName {
    static func normal(_ path: String) -> String {
        "/workout-routes/" + (path.split(separator: "/").last.map { String($0) } ?? path)
    }
}
