import DeliveryKit
import HTTP
import HealthModel
import HealthResources

extension FHIRSender {
    /// What the server has of one list of a user, a page at a time.
    func held(_ question: HeldQuestion) -> HeldReply {
        guard !form.patients.isTaken(by: question.user) else {
            return .unable("two people have the same identifier there; give each their own in 'patients'")
        }
        let resources = HeldResources(of: question, form)
        do {
            var response = try search(resources.query(question), question.cursor, question.refreshToken)
            // The token may have been replaced since it was read.
            if response.status == 401, !question.refreshToken {
                response = try search(resources.query(question), question.cursor, true)
            }
            let reply = resources.reply(
                response, to: question.cursor, url: server.origin + (question.cursor ?? observations))
            guard question.cursor == nil, case .page(let page) = reply, page.rows.isEmpty, page.next == nil
            else { return reply }
            return try hidesResources(resources)
                ? HeldResources.unable("it has resources of ours, but doesn't find them by their identifiers' system")
                : reply
        } catch let error as HTTPError {
            return error.kind == .answerTooLarge || error.kind == .invalidRequest
                ? .unable(error.description) : .later(error.description)
        } catch {
            return .refusesToken("\(error)")
        }
    }

    /// Whether a search without conditions shows resources that the search for identifiers should have found.
    private func hidesResources(_ resources: HeldResources) throws -> Bool {
        let found = try search(["_count": "50"], nil, false)
        guard case .page(let page) = resources.reply(found, to: nil, url: server.origin + observations) else {
            return false
        }
        return !page.rows.isEmpty
    }

    private var observations: String { server.prefix + "/Observation" }

    private func search(_ query: [String: String], _ cursor: String?, _ refreshesToken: Bool) throws -> HTTPResponse {
        var request = HTTPRequest(path: observations, query: query)
        if let cursor {
            let parts = cursor.split(separator: "?", maxSplits: 1)
            request = HTTPRequest(path: parts.first.map { String($0) } ?? "/")
            request.encodedQuery = parts.count > 1 ? String(parts[1]) : nil
        }
        return try send(request, refreshesToken)
    }
}
