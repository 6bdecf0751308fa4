import HTTP
import HealthModel
import Logging

/// Why a request fails: what happened, and what to do now.
package struct DashboardProblem: Error, Equatable {
    package let status: Int
    package let message: String
    package let hint: String
    var headers: HTTPHeaders = [:]

    init(_ status: Int, _ message: String, hint: String, headers: HTTPHeaders = [:]) {
        (self.status, self.message, self.hint, self.headers) = (status, message, hint, headers)
    }

    /// Converts an error from the code shared with the commands: a wrong parameter, or a process that doesn't answer.
    init(_ failure: Failure) {
        self.init(
            failure.code == .usage ? 400 : 503, failure.message, hint: failure.hint ?? "try again in a moment",
            headers: failure.code == .usage ? [:] : ["Retry-After": "2"])
    }

    static let notFound = DashboardProblem(404, "there is no such path", hint: "docs/dashboard.md lists the paths")

    package static let unauthorized = DashboardProblem(
        401, "only the account that runs this stack may read here, and whoever has a token",
        hint: "sign this browser in with 'healthbus open'; for a program, make a token with "
            + "'healthbus token new --scope read', and send it as 'Authorization: Bearer TOKEN'",
        headers: ["WWW-Authenticate": "Bearer"])

    static func silent(_ name: String) -> DashboardProblem {
        DashboardProblem(
            503, "'\(name)' hasn't answered", hint: "'healthbus status' shows its state", headers: ["Retry-After": "5"])
    }

    /// - Parameter page: the page that lists the path's parameters.
    static func parameter(_ name: String, _ what: String, page: String = "docs/dashboard.md") -> DashboardProblem {
        DashboardProblem(400, "'\(name)' \(what)", hint: "\(page) lists the parameters")
    }

    package var answer: HTTPResponse {
        let body: Value = ["error": .string(message), "hint": .string(hint)]
        var answer = HTTPResponse(status: status, json: Array(body.json().utf8))
        for field in headers.fields { answer.headers.add(field.name, field.value) }
        return answer
    }
}
