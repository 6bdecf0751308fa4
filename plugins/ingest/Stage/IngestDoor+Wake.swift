import HTTP
import HealthModel
import JSON
import Protocol

extension IngestDoor {
    /// Wakes the app as a silent push does.
    func wake(_ request: HTTPRequest, _ caller: Caller) throws(IngestProblem) -> HTTPResponse {
        let wait = try wait(request.query)
        guard let (wake, hasWaited) = wakes.wake(sender: caller.id, wait: wait) else {
            throw .busy("the debouncer isn't answering", code: "debouncer-silent", seconds: 5)
        }
        if let next = wake.next { throw .wakesUsedUp(wait: (next - clock()).seconds) }
        guard wake.woken else { return Self.answer(200, isWoken: false, .failed, wake.problem) }
        guard hasWaited else { return Self.answer(202, isWoken: true, nil, nil) }
        // An app that hasn't ended by then has failed, in the system's eyes.
        return Self.answer(
            200, isWoken: true, wake.result ?? .failed,
            wake.result == nil ? "the sync hasn't ended yet; it goes on" : wake.problem)
    }

    private static func answer(
        _ status: Int, isWoken: Bool, _ result: DebouncerDetails.Wake.Result?, _ reason: String?
    ) -> HTTPResponse {
        var out: [UInt8] = []
        out.append(json: isWoken ? "{\"woken\":true" : "{\"woken\":false")
        if let result {
            out.append(json: ",\"result\":")
            out.append(jsonString: result.rawValue)
        }
        if let reason {
            out.append(json: ",\"reason\":")
            out.append(jsonString: reason)
        }
        out.append(json: "}")
        return HTTPResponse(status: status, json: out)
    }

    private func wait(_ query: [String: String]) throws(IngestProblem) -> Duration {
        guard let text = query["wait"] else { return .zero }
        let limit = Int64(WakeLine.longestWait.seconds)
        guard let seconds = Int64(text), (0...limit).contains(seconds) else {
            throw .malformed("'wait' must be a whole number of seconds, at most \(limit)")
        }
        return .seconds(seconds)
    }
}
