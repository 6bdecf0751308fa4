import Client
import Clocks
import Configuration
import Foundation
import HTTP
import HealthModel
import Inspection
import Logging
import Monitoring
import Protocol

/// Requests from the stack's operator: to see how the stack is doing and what is waiting, and to send refused elements
/// again.
extension Dashboard {
    func tap(_ visitor: Visitor, _ parameters: Parameters) throws -> HTTPResponse {
        guard visitor.mayListen else {
            throw DashboardProblem(
                403, "the messages between processes are about everybody, and this token is for one person's data",
                hint: "make one with 'healthbus token new --scope admin'")
        }
        let filter = stack.configuration.tapFilter(
            prefixes: (parameters["topic"] ?? "").split(separator: ",").map(String.init),
            type: parameters["type"],
            user: parameters["user"], from: parameters["from"])
        return HTTPResponse(
            events: try parts.taps.stream(filter, showsValues: parameters["values"] == "1"))
    }

    /// Makes a destination send its dead letters again, and waits until it has tried.
    func retry(_ request: HTTPRequest, _ visitor: Visitor) throws -> Value {
        try visitor.require(.admin, for: "sending dead letters again")
        guard !stack.configuration.bus.isSealed else {
            throw DashboardProblem(
                403, "on a sealed bus the dashboard may only listen, ask and sync",
                hint: "use 'healthbus dead-letters retry --all'")
        }
        guard let wanted = try? Value(json: request.body), let name = wanted["destination"].string,
            let destination = stack.destinations.first(where: { $0.name == name })
        else {
            throw DashboardProblem(
                400, "the body names no destination of this stack",
                hint: "send {\"destination\": \"\(stack.destinations.first?.name ?? "uploader")\"}")
        }
        var request = RepairRequest(id: UUID().uuidString.lowercased(), action: "retry")
        request.selection = RepairSelection()
        return try ask(destination.name, request)
    }

    private func ask(_ name: String, _ request: RepairRequest) throws -> Value {
        let client = parts.client
        let deadline = MonotonicClock.now + .seconds(20)
        while MonotonicClock.now < deadline {
            let reported = client.heartbeats[name]?.beat.stage.mending
            if let reported, reported.id == request.id {
                switch reported.state {
                case .done: return ["state": "done", "result": reported.result ?? .null]
                case .refused:
                    throw DashboardProblem(
                        409, "\(name) refuses: \(reported.problem ?? "it gives no reason")",
                        hint: "see 'healthbus status'")
                case .underWay: break
                }
            } else {
                // A message may be lost, so it is repeated; a process that has received it ignores repeats.
                client.command(name, request.body)
            }
            client.hello()
            client.wait(until: Date(timeIntervalSinceNow: 0.3))
            Thread.sleep(forTimeInterval: 0.1)
        }
        throw DashboardProblem.silent(name)
    }
}
