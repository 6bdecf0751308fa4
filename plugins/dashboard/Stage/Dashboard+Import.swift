import Client
import Configuration
import HTTP
import HealthModel
import Inspection
import Logging
import Protocol

/// A file dropped on the page is passed to the ingest with the visitor's own token, so that only the ingest decides,
/// and its limits apply.
extension Dashboard {
    /// Decides what happens to a request's body; called once its head has arrived.
    package func admission(of request: HTTPRequest) -> HTTPServer.Admission {
        guard request.method == "PUT", request.path == "/api/import" else { return .collect() }
        do {
            try parts.rule.check(request)
            let token = try parts.door.visitor(request).require(.ingest, for: "importing")
            guard let url = ingestURL else { throw Self.noIngest }
            let failed = parts.failed
            let receiver = try FileReceiver(folder: parts.folder) { failed("/api/import", Failure($0)) }
            return .stream(
                HTTPServer.BodyStream(to: receiver, limit: Self.fileBytes) { [self] _ in
                    defer { receiver.abandon() }
                    return dressed(answer { try handOn(receiver.path, to: url, token) })
                })
        } catch { return .refuse(dressed(answer { throw error })) }
    }

    /// The largest file that an ingest accepts by default.
    private static let fileBytes = 16 << 30

    private static let noIngest = DashboardProblem(
        409, "the ingest doesn't answer, so nothing is imported", hint: "use 'healthbus import FILE'")

    /// Where files are sent; nil if the ingest is elsewhere or speaks TLS itself, or no heartbeat has come from it.
    var ingestURL: String? {
        guard !stack.configuration.bus.isRemote,
            let ingest = stack.configuration.only(.ingest),
            ingest.configuration["certificateFile"].string == nil,
            let reported = parts.client.heartbeats[ingest.name]?.beat.ingest,
            var endpoint = try? IngestAddress.endpoint(of: ingest)
        else { return nil }
        endpoint.port = reported.ingestPort
        return endpoint.url(isTLS: false)
    }

    /// The imports of the people whose data the visitor may read.
    func imports(_ visitor: Visitor) throws -> Value {
        var lists = try ImportsReport(stack, reader()).value.object ?? [:]
        let reading = parts.client.heartbeats[stack.observer]?.beat.observer?.reading
        lists["imports"] = .array((lists["imports"]?.array ?? []).map { ImportNews.row($0, reading) })
        guard let only = visitor.only else { return .object(lists) }
        return .object(
            lists.mapValues { rows in .array((rows.array ?? []).filter { $0["user"].string == only }) })
    }

    private func handOn(_ path: String, to url: String, _ token: String) throws -> HTTPResponse {
        let client = try HTTPClient(base: url)
        let request = HTTPRequest(
            method: "POST", path: "/v1/files",
            headers: ["Authorization": "Bearer \(token)", "Content-Type": "application/octet-stream"])
        let answer: HTTPResponse
        do { answer = try client.send(request, file: path, timeout: 3600) } catch let error as HTTPError {
            throw DashboardProblem(503, "the ingest doesn't answer: \(error.detail)", hint: error.hint)
        }
        guard answer.status != 202 else { return HTTPResponse(status: 202, json: answer.body) }
        let said = (try? Value(json: answer.body)) ?? .null
        throw DashboardProblem(
            answer.status, said["message"].string ?? said["error"].string ?? "the ingest refuses it",
            hint: said["hint"].string ?? "'healthbus logs ingest' says why")
    }
}
