import HTTP
import HealthModel
import JSON
import Protocol

/// Reads requests, lets the storage carry them out, and writes the answers. Handles one request at a time.
final class BackendCore {
    private let storage: any BackendStorage
    private let notices: BackendNotices

    init(_ storage: any BackendStorage, notices: BackendNotices) { (self.storage, self.notices) = (storage, notices) }

    /// Whether the database is still where the next start looks for it.
    var isInPlace: Bool { storage.isInPlace }

    func answer(_ request: HTTPRequest, _ route: BackendRoute, now: Instant) throws -> HTTPResponse {
        switch route {
        case .sync(let metric):
            if let seen = request.headers[SeenBackend.header].flatMap({ SeenBackend($0) }),
                let held = try storage.beginAgain(unlessReached: seen)
            {
                notices.rolledBack(seen.sequence, held)
            }
            let (outcome, state) = try write(request, metric, now)
            return outcome.answer(state, serverTime: now)
        case .samples:
            let question = try Question(
                request.query, limits: 1...BackendQueries.pageLimit, names: Question.names + ["type"])
            return try unlessKnown(to: request, "samples\n" + question.text) { _ in try storage.samples(question) }
        case .documents(let kind):
            let question = try Question(
                request.query, limits: 1...BackendQueries.pageLimit, names: Question.names)
            return try unlessKnown(to: request, "\(kind.plural)\n" + question.text) { _ in
                try storage.documents(kind, question)
            }
        case .versions:
            let question = try Question(request.query, limits: 1...BackendQueries.versionsLimit, names: nil)
            let list = try VersionList(request.query)
            // An earlier release's `verify` asks for 1 and this release's for 2, because earlier backends answer 1 with
            // something other than content numbers.
            let contents = request.query["contents"]
            let withContents = contents == "1" || contents == "2"
            return try unlessKnown(to: request, "versions \(list) \(withContents)\n" + question.text) {
                try storage.versions(question, list: list, withContents: withContents, state: $0)
            }
        case .changes:
            let question = try ChangesQuestion(request.query)
            return try unlessKnown(to: request, "changes\n" + question.text) {
                try storage.changes(question, state: $0, now: now)
            }
        case .stats:
            if request.query["count"] == "rows", let missing = try storage.repairRows() { notices.rowsMissing(missing) }
            return try storage.reading { state in
                try storage.holdings(of: request.query["user"]).answer(state, serverTime: now)
            }
        }
    }

    private func write(
        _ request: HTTPRequest, _ metric: SyncMetric, _ now: Instant
    ) throws -> (SyncOutcome, BackendState) {
        if SampleDelivery.isNamed(by: request.headers["Content-Type"]) {
            return try storage.write(delivery(request.body, metric), now: now)
        }
        guard JSONScanner.isUTF8(request.body) else { throw SyncRefusal.malformed("the body isn't UTF-8") }
        return try request.body.withUnsafeBytes { body in
            try storage.write(SyncEnvelope(body, metric: metric), metric: metric, now: now)
        }
    }

    /// Adds a tag to an answer or, if the caller already has that answer, says so without reading a row.
    private func unlessKnown(
        to request: HTTPRequest, _ question: String, _ answer: (BackendState) throws -> HTTPResponse
    ) throws -> HTTPResponse {
        try storage.reading { state in
            let tag = EntityTag(state, question: question)
            return tag.isNamed(by: request) ? tag.notModified : tag.marked(try answer(state))
        }
    }

    /// Reads a body in columns, and checks it completely.
    private func delivery(_ body: [UInt8], _ metric: SyncMetric) throws -> SampleDelivery {
        guard metric.lists.contains(.samples) else { throw SyncRefusal.noColumns(metric) }
        let delivery: SampleDelivery
        do {
            delivery = try SampleDelivery(body: body)
        } catch {
            throw SyncRefusal.malformed("\(error)")
        }
        guard delivery.count <= SampleDelivery.elementLimit else { throw SyncRefusal.tooMany }
        try SyncEnvelope.check(user: delivery.user, device: delivery.device, syncedAt: delivery.syncedAt)
        return delivery
    }
}
