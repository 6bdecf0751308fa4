import CXMLStream
import HealthModel

/// Turns the elements of an export into rows. One for each input; it stays on the reader's thread.
///
/// It is a value behind a pointer, not an object: the XML parser calls back a few million times, and every access to an
/// object's properties would be checked for exclusivity.
struct ExportParser: ~Copyable {
    /// The maximum length of a sample's start tag; HealthKit doesn't write longer ones.
    static let attributeLimit = 64 * 1024
    /// The maximum length of one sample's metadata, or of a record's list of beats: a sample is sent in one message,
    /// whose frame holds 1 MiB.
    static let textLimit = 256 << 10
    /// The maximum number of metadata entries in one sample, because each is compared with those before it.
    static let entryLimit = 1000

    /// The kind of element that encloses the current one.
    enum Context {
        case document, record, correlation, correlatedRecord, tree
    }

    let receiver: ExportReceiver
    var summary = ReadSummary()
    var builder = BatchBuilder()
    var names = Interning()
    var creationDates = DateColumn()
    var startDates = DateColumn()
    var endDates = DateColumn()
    var context = Context.document

    // The current sample; a row is appended only when its element ends, so that it is complete.
    var row = StagedRow()
    var rowProblem: String?
    var rowRaw = ""
    /// The start tag of a record that isn't empty: something in its content may still turn out to be wrong.
    var rowTag = ByteBuffer()
    var metadata = MetadataText()
    var payload: [UInt8] = []
    var beats: BeatClock?

    // The correlation, workout or other tree that encloses the current sample.
    var outer = StagedRow()
    var outerProblem: String?
    var outerRaw = ""
    var outerMetadata = MetadataText()
    var parts: [Value] = []
    var tree = TreeBuilder()
    var inlineRoute: WorkoutRoute?
    var inlineRoutePath: String?
    /// Whether the current route isn't its workout's first one.
    var isFurtherRoute = false

    /// Workouts, by the route file that each refers to.
    private(set) var workoutsByRoute: [String: WorkoutRoute.Workout] = [:]
    /// The elements that refer to files in the archive, by the files' names without folders.
    private(set) var references: [String: DocumentReference] = [:]
    private var quarantine: [QuarantinedInput] = []
    private var summaries: [ActivitySummaryRecord] = []
    var info = ExportInfo(date: nil, locale: "")
    private var infoIsSent = false
    private var failure: (any Error)?
    private var stream: XMLStream?

    /// Pieces that needn't be read, with the number of records in each; each piece is skipped only once.
    private var known: [PieceHash: Int]
    private var passed: [PieceHash] = []
    /// How many skipped pieces are reported at once.
    private static let passedLimit = 128

    init(receiver: @escaping ExportReceiver, known: [PieceHash: Int]) {
        (self.receiver, self.known) = (receiver, known)
    }

    /// Reads the document. If the export isn't well-formed, the summary says so; errors of the receiver or the source
    /// are thrown.
    static func parse(
        _ parser: UnsafeMutablePointer<ExportParser>, _ source: any ByteSource, entry: String, total: Int64
    ) throws {
        let stream = try XMLStream(
            root: "HealthData", elements: ExportElement.names, attributes: ExportAttribute.names,
            callbacks: healthbus_xml_callbacks(
                start: { context, element in ExportParser.at(context)?.pointee.start(element) },
                end: { context, code, _, implied in
                    ExportParser.at(context)?.pointee.end(ExportElement(rawValue: code), implied: implied)
                },
                text: nil,
                stray: { context, line, bytes, length in
                    let text = healthbus_xml_text(bytes: bytes, length: length)
                    return ExportParser.at(context)?.pointee.stray(text, line: line) ?? false
                }),
            context: UnsafeMutableRawPointer(parser))
        parser.pointee.stream = stream
        defer { parser.pointee.stream = nil }
        let blocks = ReadAhead(source)
        var cutter = PieceCutter()
        var archiveDamage: String?
        do {
            var goesOn = true
            while goesOn, let block = try blocks.next() {
                cutter.add(block.bytes)
                let position = block.position
                blocks.recycle(block)
                while goesOn, let piece = cutter.next() { goesOn = take(piece, of: cutter.bytes, parser, stream) }
                try parser.pointee.receiver(.progress(bytesRead: position, bytesTotal: total))
            }
        } catch let damage as ArchiveDamage {
            archiveDamage = "the archive ends early or is damaged (\(damage.reason))"
        } catch {
            blocks.stop()
            throw error
        }
        if archiveDamage != nil || !stream.isStopped, let rest = cutter.rest() {
            _ = take(rest, of: cutter.bytes, parser, stream)
        }
        stream.finish()
        parser.pointee.summary.charactersReplaced += blocks.stop() + stream.damage.dropped
        if let failure = parser.pointee.failure { throw failure }
        try parser.pointee.finish()
        parser.pointee.summary.damaged = damage(of: stream, entry: entry, archiveDamage: archiveDamage)
    }

    /// Parses a piece, or skips it if it is known.
    /// - Returns: false when there is nothing more to do.
    private static func take(
        _ piece: PieceCutter.Piece, of bytes: [UInt8], _ parser: UnsafeMutablePointer<ExportParser>,
        _ stream: XMLStream
    ) -> Bool {
        // Reads to the end of the input, even beyond the end of the export, because that is where an archive keeps its
        // checksum.
        if stream.isComplete {
            _ = bytes.withUnsafeBufferPointer { stream.feed(UnsafeBufferPointer(rebasing: $0[piece.bytes])) }
            return true
        }
        let before = parser.pointee.form(of: stream)
        if let hash = piece.hash, before.isBetweenElements, let records = parser.pointee.known.removeValue(forKey: hash)
        {
            parser.pointee.pass(hash, records: records)
            // Lines are still counted.
            let lines = [UInt8](repeating: UInt8(ascii: "\n"), count: piece.lines)
            return lines.withUnsafeBufferPointer { stream.feed($0) } || stream.isComplete
        }
        let goesOn = bytes.withUnsafeBufferPointer { stream.feed(UnsafeBufferPointer(rebasing: $0[piece.bytes])) }
        let isPlain = parser.pointee.form(of: stream) == before && before.isBetweenElements
        parser.pointee.builder.endPiece(isPlain ? piece.hash : nil)
        return goesOn || stream.isComplete
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<ExportParser>? {
        context?.assumingMemoryBound(to: ExportParser.self)
    }
}

extension ExportParser {
    /// Stops the parser; `parse` then throws the error.
    private mutating func stop(_ error: any Error) {
        failure = failure ?? error
        stream?.stop()
    }

    private mutating func send(_ event: ExportEvent) {
        sendInfo()
        guard failure == nil else { return }
        do { try receiver(event) } catch { stop(error) }
    }

    /// Appends the row of a correlation, a workout or any other element except a record.
    mutating func deliverOuter(_ payload: Value) {
        let bytes = Array(payload.json().utf8)
        guard outerMetadata.count + bytes.count <= BatchBuilder.rowTextLimit else {
            return quarantine(line: outer.line, BatchBuilder.rowTooLarge, raw: outerRaw)
        }
        builder.append(outer, outerMetadata, bytes)
        guard builder.isFull || names.isLarge else { return }
        flushRecords()
        names.forgetIfLarge()
    }

    mutating func flushRecords() {
        // Skipped pieces come first, so that no record of this batch claims one of their samples.
        flushPassed()
        if builder.count > 0 { send(.records(builder.take(&names))) }
    }

    /// Values that don't change as long as only complete records are read.
    private struct Form: Equatable {
        var summary: ReadSummary
        var errors: Int64
        var dropped: Int64
        var isBetweenElements: Bool
    }

    private func form(of stream: XMLStream) -> Form {
        var summary = summary
        summary.records = 0
        let damage = stream.damage
        return Form(
            summary: summary, errors: Int64(damage.errors), dropped: Int64(damage.dropped),
            isBetweenElements: context == .document)
    }

    private mutating func pass(_ piece: PieceHash, records: Int) {
        summary.records += records
        passed.append(piece)
        if passed.count == Self.passedLimit { flushPassed() }
    }

    private mutating func flushPassed() {
        guard !passed.isEmpty else { return }
        send(.known(passed))
        passed.removeAll()
    }

    mutating func quarantine(line: Int64, _ reason: String, raw: String) {
        summary.quarantined += 1
        quarantine.append(QuarantinedInput(line: line, reason: reason, raw: raw))
        if quarantine.count >= 64 { flushQuarantine() }
    }

    private mutating func flushQuarantine() {
        guard !quarantine.isEmpty else { return }
        send(.quarantined(quarantine))
        quarantine.removeAll()
    }

    mutating func deliver(_ record: ActivitySummaryRecord) {
        summary.activitySummaries += 1
        summaries.append(record)
        if summaries.count >= 512 { flushSummaries() }
    }

    private mutating func flushSummaries() {
        guard !summaries.isEmpty else { return }
        send(.summaries(summaries))
        summaries.removeAll()
    }

    mutating func deliver(_ route: WorkoutRoute) {
        flushRecords()
        send(.route(route))
        guard failure == nil else { return }
        summary.routePoints += route.count
        if route.firstPoint == 0 { summary.routes += 1 }
    }

    mutating func remember(_ workout: WorkoutRoute.Workout, of route: String) {
        // The number of workouts is limited so that memory doesn't fill up: a person has thousands, and beyond this
        // limit routes aren't linked to their workouts.
        let name = RouteName.normal(route)
        guard workoutsByRoute.count < 50_000, name.utf8.count <= 1024 else { return }
        workoutsByRoute[name] = workout
    }

    mutating func remember(_ reference: DocumentReference, of file: String) {
        let name = file.split(separator: "/").last.map { String($0) } ?? file
        // Limits, as above.
        let texts = [name, reference.element, reference.identifier, reference.sourceName]
        guard references.count < 50_000, texts.allSatisfy({ $0.utf8.count <= 1024 }) else { return }
        references[name] = reference
    }

    private mutating func sendInfo() {
        guard !infoIsSent else { return }
        infoIsSent = true
        send(.info(info))
    }

    /// Called when the elements between that depth and the element now starting have no end tags.
    func collapse(to depth: Int32) { stream?.collapse(to: depth) }

    private mutating func finish() throws {
        leaveOpenElements()
        sendInfo()
        flushRecords()
        flushQuarantine()
        flushSummaries()
        if let failure { throw failure }
    }
}
