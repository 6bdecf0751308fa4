import HTTP
import HealthModel
import Logging

/// Why a request isn't answered as asked: what happened, and what to do now.
package struct DashboardProblem: Error, Equatable {
    package let status: Int
    package let message: String
    package let advice: String
    var headers: HTTPHeaders = [:]

    init(_ status: Int, _ message: String, advice: String, headers: HTTPHeaders = [:]) {
        (self.status, self.message, self.advice, self.headers) = (status, message, advice, headers)
    }

    /// Of what the code that commands share says of a wrong parameter or of a process that doesn't answer.
    init(_ failure: Failure) {
        self.init(
            failure.code == .usage ? 400 : 503, failure.message, advice: failure.hint ?? "try again in a moment",
            headers: failure.code == .usage ? [:] : ["Retry-After": "2"])
    }

    static let notFound = DashboardProblem(404, "there is no such path", advice: "docs/dashboard.md has the paths")

    static let unauthorized = DashboardProblem(
        401, "this needs a token",
        advice: "make one with 'healthbus token new --scope read', and show it once with POST /api/session",
        headers: ["WWW-Authenticate": "Bearer"])

    static func parameter(_ name: String, _ what: String) -> DashboardProblem {
        DashboardProblem(400, "'\(name)' \(what)", advice: "docs/dashboard.md has the parameters")
    }

    package var answer: HTTPResponse {
        let body: Value = ["error": .string(message), "advice": .string(advice)]
        var answer = HTTPResponse(status: status, json: Array(body.json().utf8))
        for field in headers.fields { answer.headers.add(field.name, field.value) }
        return answer
    }
}
