import Client
import Clocks
import Configuration
import Foundation
import HTTP
import HealthModel
import Inspection
import Logging
import Protocol

/// What whoever runs the stack asks: how it does, what waits, and that what was refused is sent again.
extension Dashboard {
    func tap(_ parameters: Parameters) throws -> HTTPResponse {
        let filter = stack.configuration.tapFilter(
            prefixes: (parameters["topic"] ?? "").split(separator: ",").map(String.init),
            type: parameters["type"],
            user: parameters["user"], from: parameters["from"])
        return HTTPResponse(
            events: try parts.taps.stream(filter, showsValues: parameters["values"] == "1"))
    }

    /// Has a destination send its dead letters again, and waits until it has tried.
    func retry(_ request: HTTPRequest, _ visitor: Visitor) throws -> Value {
        guard visitor.scopes.contains(.admin) else {
            throw DashboardProblem(
                visitor.token == nil ? 401 : 403,
                "to send dead letters again needs a token with the scope admin",
                advice: "make one with 'healthbus token new --scope admin'")
        }
        guard !stack.configuration.bus.isSealed else {
            throw DashboardProblem(
                403, "on a sealed bus the dashboard may hear and ask, and nothing else",
                advice: "use 'healthbus dead-letters retry --all'")
        }
        guard let wanted = try? Value(json: request.body), let name = wanted["destination"].string,
            let destination = stack.destinations.first(where: { $0.name == name })
        else {
            throw DashboardProblem(
                400, "the body names no destination of this stack",
                advice: "send {\"destination\": \"\(stack.destinations.first?.name ?? "uploader")\"}")
        }
        var mend = MendRequest(id: UUID().uuidString.lowercased(), action: "retry")
        mend.selection = MendSelection()
        return try ask(destination.name, mend)
    }

    private func ask(_ name: String, _ mend: MendRequest) throws -> Value {
        let client = parts.client
        let deadline = MonotonicClock.now + .seconds(20)
        while MonotonicClock.now < deadline {
            let told = client.heartbeats[name]?.beat.stage.mending
            if let told, told.id == mend.id {
                switch told.state {
                case .done: return ["state": "done", "result": told.result ?? .null]
                case .refused:
                    throw DashboardProblem(
                        409, "\(name) refuses: \(told.problem ?? "it says no why")",
                        advice: "see 'healthbus status'")
                case .underWay: break
                }
            } else {
                // It may be lost; who has taken it doesn't take it twice.
                client.command(name, mend.body)
            }
            client.hello()
            client.wait(until: Date(timeIntervalSinceNow: 0.3))
            Thread.sleep(forTimeInterval: 0.1)
        }
        throw DashboardProblem(
            503, "'\(name)' hasn't answered", advice: "'healthbus status' shows how it is",
            headers: ["Retry-After": "5"])
    }
}
