import Foundation
import HTTP
import HealthModel
import Protocol

/// Events and types that a person makes: each request is one part, and the observer's answer is the response.
extension IngestDoor {
    func own(_ request: HTTPRequest, _ visit: Visit) throws(IngestProblem) -> HTTPResponse {
        let (wish, caller) = (try Self.wish(request, visit), visit.caller)
        let receipts = try submit { id in
            var part = IngestPart(
                id: id, number: 0, user: caller.user, device: caller.device, way: IngestRoute.events.template)
            part.isLast = true
            part.own = wish
            return [part]
        }
        guard var answer = receipts.first?.own else {
            throw .busy("the observer runs another release", code: "not-kept", seconds: 30)
        }
        if answer.isRefusal {
            noteRefused()
            return Self.response(answer)
        }
        if request.method != "GET" { noteTaken() }
        // Otherwise, a change that changes nothing would be a way to read without the right to do so.
        if !caller.mayRead {
            answer.body = .object((answer.body.object ?? [:]).filter { Self.shown.contains($0.key) })
        }
        return Self.response(answer)
    }

    private static let shown: Set = ["id", "name", "version", "deleted"]

    private static func response(_ answer: OwnAnswer) -> HTTPResponse {
        var response = HTTPResponse(status: answer.status, json: Array(answer.body.json().utf8))
        if let version = answer.body["version"].int { response.headers["ETag"] = "\"\(version)\"" }
        return response
    }

    private static func wish(
        _ request: HTTPRequest, _ visit: Visit
    ) throws(IngestProblem) -> OwnRequest {
        let (route, id) = (visit.route, visit.id)
        switch (route, request.method) {
        case (.ownTypes, "GET"): return OwnRequest(.listTypes)
        case (.event, "GET"): return OwnRequest(.showEvent, id: id)
        case (.ownTypes, _): return OwnRequest(.addType, body: .object(try body(of: request)))
        case (.events, _):
            var members = try body(of: request)
            // The id is made here, so that a part that is sent twice makes only one event.
            let given = members.removeValue(forKey: "id") ?? .string(UUID().uuidString.lowercased())
            guard let id = given.string else { throw .malformed("id isn't text") }
            return OwnRequest(.addEvent, id: id, body: .object(members))
        case (_, "DELETE"):
            var wish = OwnRequest(route == .event ? .removeEvent : .removeType, id: id)
            try expect(request, nil, &wish)
            return wish
        default:
            var members = try body(of: request)
            let version = members.removeValue(forKey: "version")
            var wish = OwnRequest(route == .event ? .changeEvent : .changeType, id: id, body: .object(members))
            guard request.headers["If-Match"] != nil || version != nil else { throw .versionMissing }
            try expect(request, version, &wish)
            return wish
        }
    }

    /// Takes the version that a change is meant for from `If-Match`, which takes precedence over the body's.
    private static func expect(
        _ request: HTTPRequest, _ given: Value?, _ wish: inout OwnRequest
    ) throws(IngestProblem) {
        if let field = request.headers["If-Match"]?.trimmingCharacters(in: .whitespaces) {
            if field == "*" { return }
            let text = field.hasPrefix("\"") && field.hasSuffix("\"") ? field.dropFirst().dropLast() : field[...]
            guard let version = Int64(text) else { throw .malformed("If-Match isn't a version, as in \"3\"") }
            (wish.version, wish.isPrecondition) = (version, true)
        } else if let given {
            guard let version = given.int else { throw .malformed("version isn't a whole number") }
            wish.version = version
        }
    }

    private static func body(of request: HTTPRequest) throws(IngestProblem) -> [String: Value] {
        let type = request.headers["Content-Type"].map { MediaType($0)?.essence ?? "" } ?? "application/json"
        // A PATCH has the form of RFC 7396 here.
        guard type == "application/json" || (request.method == "PATCH" && type == "application/merge-patch+json")
        else { throw .mediaType("application/json") }
        guard request.body.count <= bodyLimit else { throw .tooLarge("the body has more than \(bodyLimit) bytes") }
        guard let members = (try? Value(json: request.body))?.object else {
            throw .malformed("the body isn't a JSON object")
        }
        return members
    }

    private static var bodyLimit: Int { 16 << 10 }
}
