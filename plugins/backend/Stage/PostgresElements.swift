import HealthModel
import JSON
import PostgresStore

/// A request's JSON elements as a batch for PostgreSQL, with the position of each.
struct PostgresElements {
    struct Place {
        var id: JSONSpan
        var list: SyncList
        var index: Int
        var version: Int64
        /// The element's key in the database.
        var key: String
        /// nil for samples.
        var kind: DocumentKind?
    }

    private(set) var page = SamplePage()
    private(set) var deletions: [PostgresBatch.Deletion] = []
    private(set) var documents: [PostgresDocument] = []
    private var samplePlaces: [Place] = []
    private var deletionPlaces: [Place] = []
    private var documentPlaces: [Place] = []
    private var types: [String: Int32] = [:]
    private var units: [String: Int32] = [:]
    private var sources: [String: Int32] = [:]

    /// - Parameter outcome: receives the elements that can't be stored at all.
    init(_ envelope: SyncEnvelope, metric: SyncMetric, _ outcome: inout SyncOutcome) throws {
        for (list, elements) in envelope.lists {
            var scanner = JSONScanner(elements.bytes)
            try scanner.beginArray()
            var index = 0
            while try scanner.nextElement() {
                if let kind = metric.documentKind(list) {
                    try takeDocument(kind, &scanner, list, index, &outcome)
                } else {
                    try takeSample(&scanner, list, index, &outcome)
                }
                index += 1
            }
        }
    }

    /// In the order of a batch: samples, deletions, documents.
    var places: [Place] { samplePlaces + deletionPlaces + documentPlaces }

    func batch(user: String) -> PostgresBatch {
        PostgresBatch(user: user, samples: page, deletions: deletions, documents: documents)
    }

    private mutating func takeSample(
        _ scanner: inout JSONScanner, _ list: SyncList, _ index: Int, _ outcome: inout SyncOutcome
    ) throws {
        let element = try SampleElement(&scanner)
        guard let span = element.id, let id = ElementID(span) else {
            return outcome.refuse(element.id, list, index: index, "id is missing")
        }
        guard case .uuid(let id) = id else {
            return outcome.refuse(
                span, list, index: index, "id isn't a UUID, the only kind this backend's database can store")
        }
        guard let version = SampleElement.version(element.version) else {
            return outcome.refuse(span, list, index: index, "version isn't an integer")
        }
        let place = Place(id: span, list: list, index: index, version: version, key: id.description)
        if list == .deleted {
            deletions.append(PostgresBatch.Deletion(id: id, version: version))
            return deletionPlaces.append(place)
        }
        let (start, end) = (SampleElement.date(element.startDate), SampleElement.date(element.endDate))
        if let problem = element.problem(start: start, end: end) {
            return outcome.refuse(span, list, index: index, problem)
        }
        var uuid: SampleID?
        if let text = element.healthKitUUID, !text.bytes.isEmpty {
            uuid = SampleID(uuid: text.bytes)
            if uuid == nil {
                return outcome.refuse(
                    span, list, index: index,
                    "healthkitUUID isn't a UUID, the only kind this backend's database can store")
            }
        }
        guard let start, let end else { return }
        page.ids.append(id)
        page.sequence.append(version)
        page.start.append(start.microseconds)
        page.end.append(end.microseconds)
        page.value.append(element.value?.double ?? .nan)
        page.flags.append(element.isManual ? .manual : [])
        page.healthKitUUID.append(uuid)
        let (type, unit, source) = (element.type?.text ?? "", element.unit?.text ?? "", element.source?.text ?? "")
        page.type.append(types.place(of: type, in: &page.types, adding: type))
        page.unit.append(units.place(of: unit, in: &page.units, adding: unit))
        page.origin.append(sources.place(of: source, in: &page.origins, adding: Origin(sourceName: source)))
        if let metadata = element.metadata {
            page.metadata.append(bytes: metadata.bytes)
        } else {
            page.metadata.appendEmpty()
        }
        if let payload = element.payload {
            page.payload.append(bytes: payload.rawText)
        } else {
            page.payload.appendEmpty()
        }
        samplePlaces.append(place)
    }

    private mutating func takeDocument(
        _ kind: DocumentKind, _ scanner: inout JSONScanner, _ list: SyncList, _ index: Int,
        _ outcome: inout SyncOutcome
    ) throws {
        let body = try scanner.value()
        let element = try DocumentElement(body, kind: kind)
        if let problem = element.problem(as: kind, deletes: list.deletes) {
            return outcome.refuse(element.isNamed ? element.key : nil, list, index: index, problem)
        }
        guard let span = element.key, let id = span.text, let version = SampleElement.version(element.version) else {
            return
        }
        let times = list.deletes ? DocumentTimes() : element.times(of: kind)
        documents.append(
            PostgresDocument(
                kind: kind.stored, id: id, version: version,
                body: list.deletes ? nil : String(decoding: body.bytes, as: UTF8.self), start: times.start,
                end: times.end, date: kind == .day ? LocalDay(id) : times.date.flatMap { LocalDay($0) }))
        documentPlaces.append(
            Place(id: span, list: list, index: index, version: version, key: id, kind: kind))
    }
}
