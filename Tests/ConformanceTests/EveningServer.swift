import HTTP
import HealthModel
import Synchronization

/// A server as one might write it in an evening: correct except for one mistake.
final class EveningServer: Sendable {
    enum Mistake: String, CaseIterable, Sendable {
        case none
        // Answers.
        case saysOK, noContent, html, redirects, doubleCounts, refusalsByName, serverError
        // What it keeps.
        case ignoresVersions, losesDeletes, forgetsDeleted, refusesAllForOne, keepsTwice, mixesUsers, onlySamples
        // What it reads.
        case noToken, strictMembers, onlyASCII, needsValues, smallBodies
    }

    static let token = "an-evening's-token"
    private let server: HTTPServer

    init(_ mistake: Mistake) throws {
        let store = Store(mistake)
        server = try HTTPServer { store.answer($0) }
    }

    var url: String { "http://127.0.0.1:\(server.port)" }

    func stop() { server.stop() }

    private final class Store: Sendable {
        private struct Row {
            var version: Int64
            var isDeleted: Bool
        }

        private let mistake: Mistake
        private let rows = Mutex<[String: Row]>([:])

        init(_ mistake: Mistake) { self.mistake = mistake }

        func answer(_ request: HTTPRequest) -> HTTPResponse {
            guard mistake == .noToken || request.bearerToken == EveningServer.token else { return json(401, [:]) }
            guard request.method == "POST" else { return json(404, [:]) }
            switch mistake {
            case .saysOK: return HTTPResponse(status: 200, body: Array("ok".utf8))
            case .noContent: return HTTPResponse(status: 204)
            case .html:
                return HTTPResponse(
                    status: 200, headers: ["Content-Type": "text/html"], body: Array("<html>Thank you!</html>".utf8))
            case .redirects: return HTTPResponse(status: 301, headers: ["Location": "https://example.org/api"])
            case .serverError: return json(500, ["error": "it broke"])
            case .smallBodies where request.body.count > 1 << 20: return json(400, ["error": "too much"])
            default: break
            }
            guard let body = Value(strictJSON: request.body)?.object else { return json(400, [:]) }
            let metric = String(request.path.split(separator: "/").last ?? "")
            return mistake == .onlySamples && metric != "steps" ? json(404, [:]) : keep(metric, body)
        }

        private func keep(_ metric: String, _ body: [String: Value]) -> HTTPResponse {
            var counts = ["created": 0, "updated": 0, "known": 0, "refused": 0]
            var refused: [Value] = []
            let user = mistake == .mixesUsers ? "" : body["userId"]?.string ?? ""
            for (list, elements) in Value.inOrder(body) {
                guard let elements = elements.array else { continue }
                let deletes = list.hasPrefix("deleted")
                if deletes, mistake == .losesDeletes {
                    counts["known", default: 0] += elements.count
                    continue
                }
                for element in elements {
                    if let reason = problem(of: element, deletes || metric != "steps") {
                        if mistake == .refusesAllForOne { return json(422, ["error": "validation failed"]) }
                        counts["refused", default: 0] += 1
                        refused.append(
                            mistake == .refusalsByName
                                ? ["name": element["source"], "why": .string(reason)]
                                : ["id": element["id"], "reason": .string(reason)])
                        continue
                    }
                    let id = element["id"].string ?? element["date"].string ?? ""
                    let key = "\(user) \(metric) \(id.lowercased())"
                    let version = element["version"].int ?? 0
                    counts[put(key, Row(version: version, isDeleted: deletes)), default: 0] += 1
                }
            }
            if mistake == .doubleCounts { counts["created", default: 0] *= 2 }
            return json(
                200, ["counts": .object(counts.mapValues { .integer(Int64($0)) }), "refused": .array(refused)])
        }

        private func put(_ key: String, _ row: Row) -> String {
            rows.withLock { rows in
                guard let held = rows[key] else {
                    if !(row.isDeleted && mistake == .forgetsDeleted) { rows[key] = row }
                    return "created"
                }
                if mistake == .keepsTwice, !row.isDeleted { return "created" }
                let isNewer =
                    row.version > held.version || row.version == held.version && row.isDeleted && !held.isDeleted
                guard isNewer || mistake == .ignoresVersions else { return "known" }
                rows[key] = row.isDeleted && mistake == .forgetsDeleted ? nil : row
                return "updated"
            }
        }

        private func problem(of element: Value, _ isFree: Bool) -> String? {
            if isFree { return nil }
            if InstantText.parse(element["startDate"].string ?? "") == nil { return "startDate" }
            if mistake == .needsValues, element["value"].double == nil { return "value" }
            if mistake == .onlyASCII, element["source"].string?.utf8.allSatisfy({ $0 < 128 }) == false {
                return "source"
            }
            if mistake == .strictMembers, !element["someNewMember"].isNull { return "someNewMember" }
            return nil
        }

        private func json(_ status: Int, _ value: Value) -> HTTPResponse {
            HTTPResponse(status: status, json: Array(value.json().utf8))
        }
    }
}
