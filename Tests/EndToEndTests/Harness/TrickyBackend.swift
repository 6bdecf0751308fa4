import Foundation
import HTTP
import HealthModel
import Synchronization

/// Sits between an uploader and the real backend, and lets through only what a test allows.
final class TrickyBackend: Sendable {
    /// Returns the answer to a request, or nil to pass the request on.
    typealias Trick = @Sendable (_ request: HTTPRequest, _ number: Int) -> HTTPResponse?

    private struct State {
        var trick: Trick = { _, _ in nil }
        var uploads = 0
    }

    private let server: HTTPServer
    private let state: Shared

    private final class Shared: Sendable {
        let inner = Mutex(State())
    }

    /// - Parameter port: where the real backend will listen.
    init(before port: Int) throws {
        let shared = Shared()
        state = shared
        server = try HTTPServer { request in
            let (trick, number) = shared.inner.withLock { state in
                if request.method == "POST" { state.uploads += 1 }
                return (state.trick, state.uploads)
            }
            if let answer = trick(request, number) { return answer }
            var headers = HTTPHeaders()
            for name in ["Authorization", "Content-Type", "Healthbus-Seen"] { headers[name] = request.headers[name] }
            do {
                // A new client for each request, because a client may be used by only one thread.
                let answer = try HTTPClient(base: "http://127.0.0.1:\(port)").send(
                    HTTPRequest(
                        method: request.method, path: request.path, query: request.query, headers: headers,
                        body: request.body))
                var passed = HTTPResponse(status: answer.status, body: answer.body)
                for name in ["Content-Type", "Retry-After"] { passed.headers[name] = answer.headers[name] }
                return passed
            } catch {
                return HTTPResponse(status: 502)
            }
        }
    }

    var url: String { "http://127.0.0.1:\(server.port)" }

    /// The number of requests with elements up to now.
    var uploads: Int { state.inner.withLock { $0.uploads } }

    func play(_ trick: @escaping Trick) { state.inner.withLock { $0.trick = trick } }

    func stop() { server.stop() }

    static func page(_ status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: ["Content-Type": "text/html; charset=utf-8"],
            body: Array("<!DOCTYPE html><html><body>Please log in to this network</body></html>".utf8))
    }
}
