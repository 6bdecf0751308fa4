import HealthModel
import HealthPush
import IngestStage
import Protocol

/// A request as a phone sends it over HTTP, and the parts that the ingest hands to the observer for it.
struct PhoneRequest {
    static let (user, device) = ("me", "phone")

    var method = "POST"
    let path: String
    var type = "application/json"
    var headers: [String: String] = [:]
    let body: String
    /// When the ingest receives it. Of two sums of one hour the one received later counts, and a run's clock jumps; so
    /// it is the same whenever the request is sent.
    var received = Instant(seconds: 1_750_000_000)
    /// Whether it is about what a person makes.
    var isOwn = false
    /// Makes the parts, under the request's id.
    let parts: (_ id: String) -> [IngestPart]

    /// A way in for which nothing here writes a body.
    struct UnknownWay: Error { let path: String }

    /// Reads a body as the ingest does.
    private init(
        _ way: WayIn, _ body: String, type: String = "application/json", headers: [String: String] = [:],
        received: Instant? = nil
    ) throws {
        path = way.path.replacing("{phone}", with: Self.device)
        (self.type, self.headers, self.body) = (type, headers, body)
        if let received { self.received = received }
        let changes = try way.changes(in: Array(body.utf8), type: type, now: self.received) { headers[$0] }
        let contents = RequestParts(changes)
        parts = { contents.messages(id: $0, user: Self.user, device: Self.device, way: way) }
    }
}

// MARK: Samples

extension PhoneRequest {
    /// The ways that bring all there is about a record. FreeReps leaves out where a sample ends, and its source.
    static let ways = WayIn.all.filter { $0.path != WayIn.freeReps.path }

    /// Records that have a UUID, in a way's form.
    /// - Parameters:
    ///   - hasOdd: whether an item follows that can't be understood.
    static func push(_ records: [Record], by way: WayIn, hasOdd: Bool = false) throws -> PhoneRequest {
        switch way.path {
        case WayIn.samples.path: return try samples(records, hasOdd: hasOdd)
        case WayIn.lines.path:
            let lines = records.map { record in
                let times = [record.start, record.start + record.length].map { InstantText.iso8601($0) }
                return ([record.type] + times + ["\(record.value)", "", record.source]).joined(separator: ";")
            }
            return try PhoneRequest(way, (lines + (hasOdd ? ["odd"] : [])).joined(separator: "\n"), type: "text/plain")
        case WayIn.healthykit.path:
            let items = try records.map { try ThreeWayLife.Sample($0).inHealthykit } + (hasOdd ? ["1"] : [])
            return try PhoneRequest(way, "{\"metrics\":[\(items.joined(separator: ","))]}")
        case WayIn.healthAutoExport.path:
            let odd = #"{"name":"step_count","units":"count","data":[{"qty":1}]}"#
            let samples = try records.map(ThreeWayLife.Sample.init)
            let body = ThreeWayLife.Sample.autoExportBody(samples, and: hasOdd ? [odd] : [])
            return try PhoneRequest(way, body, headers: ["automation-aggregation": "none"])
        case WayIn.lifeDashboard.path:
            let samples = try records.map(ThreeWayLife.Sample.init)
            let odd = #"{"count":"many"}"#
            return try PhoneRequest(way, ThreeWayLife.Sample.lifeDashboardBody(samples, and: hasOdd ? [odd] : []))
        case WayIn.openWearables.path:
            let samples = try records.map(ThreeWayLife.Sample.init)
            let odd = #"{"type":"HKQuantityTypeIdentifierStepCount"}"#
            return try PhoneRequest(way, ThreeWayLife.Sample.openWearablesBody(samples, and: hasOdd ? [odd] : []))
        default: throw UnknownWay(path: way.path)
        }
    }

    /// - Parameter areLines: whether each item is a line, instead of one document.
    static func samples(
        _ records: [Record], deleted: [SampleID] = [], hasOdd: Bool = false, areLines: Bool = false
    ) throws -> PhoneRequest {
        let items = try records.map { try ThreeWayLife.Sample($0).inProgram } + (hasOdd ? [#"{"poison":1}"#] : [])
        let uuids = deleted.map { "\"\($0)\"" }
        let lines = uuids.map { "{\"deleted\":\($0)}" } + items
        return try areLines && !lines.isEmpty
            ? PhoneRequest(.samples, lines.joined(separator: "\n"), type: "application/x-ndjson")
            : PhoneRequest(
                .samples,
                "{\"samples\":[\(items.joined(separator: ","))],\"deleted\":[\(uuids.joined(separator: ","))]}")
    }

    /// What Health Auto Export sends if it is set to summarize: for each record, a sum of the hour in which it begins.
    /// - Parameter areComplete: whether the hours are over; if not, the sums are smaller, and received earlier.
    static func hours(of records: [Record], areComplete: Bool) throws -> PhoneRequest {
        func metric(_ name: String, _ units: String) -> String {
            let entries = records.map { record in
                let microseconds = record.start.microseconds
                let hour = microseconds - microseconds % 3_600_000_000
                let sum = areComplete ? record.value : (record.value / 2).rounded(.down)
                return #"{"date":"\#(ThreeWayLife.Sample.date(hour))","qty":\#(sum),"source":"\#(record.source)"}"#
            }
            return #"{"name":"\#(name)","units":"\#(units)","data":[\#(entries.joined(separator: ","))]}"#
        }
        let metrics = [metric("step_count", "count"), metric("walking_running_distance", "m")]
        return try PhoneRequest(
            .healthAutoExport, ThreeWayLife.Sample.autoExportBody([], and: metrics),
            headers: ["automation-aggregation": "Hours"],
            received: Instant(seconds: areComplete ? 1_750_003_600 : 1_750_000_000))
    }
}

extension ThreeWayLife.Sample {
    /// As the app healthykit sends it.
    fileprivate var inHealthykit: String {
        let unit = kind == .steps ? "count" : "count/min"
        let (from, to) = (Instant(microseconds: start), Instant(microseconds: end))
        let measured =
            kind == .sleep
            ? #""value":60,"unit":"seconds","metadata":{"category_value":"\#(Int(value))"}"#
            : #""value":\#(value),"unit":"\#(unit)","metadata":{}"#
        return #"{"id":"healthkit:\#(uuid.uppercased())","type":"\#(type)",\#(measured),"#
            + #""start_at":"\#(InstantText.iso8601(from))","end_at":"\#(InstantText.iso8601(to))","#
            + #""source_name":"\#(source)"}"#
    }

    private static let kinds: [String: ThreeWayLife.Kind] = [
        SimulatedData.steps: .steps, "HKQuantityTypeIdentifierHeartRate": .heartRate,
        "HKQuantityTypeIdentifierRespiratoryRate": .respiratoryRate, "HKCategoryTypeIdentifierSleepAnalysis": .sleep,
    ]

    /// - Throws: `PhoneRequest.UnknownWay` for a type that this life lacks.
    init(_ record: Record) throws {
        guard let kind = Self.kinds[record.type] else { throw PhoneRequest.UnknownWay(path: record.type) }
        self.init(
            uuid: record.uuid?.description ?? "", kind: kind, source: record.source, start: record.start.microseconds,
            end: (record.start + record.length).microseconds, value: record.value)
    }
}

// MARK: Own types and events

extension PhoneRequest {
    private init(
        _ method: String, _ path: String, headers: [String: String] = [:], sent: Value?, _ wish: OwnRequest
    ) {
        (self.method, self.path, self.headers, isOwn) = (method, path, headers, true)
        body = sent?.json() ?? ""
        parts = { id in
            var part = IngestPart(
                id: id, number: 0, user: Self.user, device: Self.device, way: IngestRoute.events.template)
            part.isLast = true
            part.own = wish
            return [part]
        }
    }

    static func addType(_ name: String) -> PhoneRequest {
        let type: Value = ["name": .string(name), "unit": "cups", "aggregation": "sum"]
        return PhoneRequest("POST", "/v1/types", sent: type, OwnRequest(.addType, body: type))
    }

    static func addEvent(_ id: String, of type: String, at start: Instant, _ value: Int64) -> PhoneRequest {
        let event: [String: Value] = [
            "type": .string(type), "start": .string(InstantText.iso8601(start)), "value": .integer(value),
        ]
        return PhoneRequest(
            "POST", "/v1/events", sent: .object(event.merging(["id": .string(id)]) { $1 }),
            OwnRequest(.addEvent, id: id, body: .object(event)))
    }

    static func changeEvent(_ id: String, to value: Int64) -> PhoneRequest {
        PhoneRequest(
            "PATCH", "/v1/events/\(id)", headers: ["If-Match": "*"], sent: ["value": .integer(value)],
            OwnRequest(.changeEvent, id: id, body: ["value": .integer(value)]))
    }

    static func removeEvent(_ id: String) -> PhoneRequest {
        PhoneRequest("DELETE", "/v1/events/\(id)", sent: nil, OwnRequest(.removeEvent, id: id))
    }
}

// MARK: On its way

/// A request in the ingest's hands: `ObserverLine` without its thread, in simulated time.
struct PhoneFlight {
    let request: PhoneRequest
    private var handover: RequestHandover
    /// When there is something to do, unless a receipt comes first.
    private var due: MonotonicTime

    init(_ request: PhoneRequest, _ pace: RequestHandover.Pace = .init(), at now: MonotonicTime) {
        (self.request, due) = (request, now)
        handover = RequestHandover(pace, at: now)
    }

    /// What is to be done now, `begin` never; nil for nothing.
    /// - Parameter newID: makes the request's id, whenever it begins.
    mutating func step(at now: MonotonicTime, newID: () -> String) -> RequestHandover.Step? {
        guard now >= due else { return nil }
        var step = handover.step(at: now)
        if case .begin = step {
            handover.begin(request.parts(newID()), at: now)
            step = handover.step(at: now)
        }
        if case .send(_, let time) = step { due = now + time }
        return step
    }

    mutating func hear(_ receipt: IngestReceipt, at now: MonotonicTime) {
        if handover.take(receipt, at: now) { due = now }
    }
}
