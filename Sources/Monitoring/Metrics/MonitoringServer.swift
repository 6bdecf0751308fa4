import Client
import Clocks
import Configuration
import Foundation
import HTTP
import HealthModel
import Inspection
import Logging
import Protocol
import Synchronization

/// Answers `/metrics` (Prometheus), `/live` and `/ready` for a stack, from its instances' messages on the bus. It
/// stores nothing, and asks for nothing until it is asked.
package final class MonitoringServer: Sendable {
    private struct LastSamples {
        var byType: [String: Instant] = [:]
        var asked: MonotonicTime?
    }

    private let stack: Stack
    private let client: StackClient
    private let lastSamples = Mutex(LastSamples())
    private let server = Mutex<HTTPServer?>(nil)

    /// The times of the newest samples are requested at most this often.
    private static let samplesAge = Duration.seconds(15)

    /// Listens and serves from this call on.
    /// - Throws: `Failure` when the address isn't available.
    package init(_ stack: Stack, _ client: StackClient, at endpoint: Endpoint) throws(Failure) {
        (self.stack, self.client) = (stack, client)
        var limits = HTTPServer.Limits()
        limits.threads = 1
        limits.connections = 16
        limits.connectionsPerAddress = 12
        limits.bodyBytes = 4 << 10
        do {
            let server = try HTTPServer(host: endpoint.host, port: endpoint.port, limits: limits) {
                [weak self] request in
                self?.answer(request) ?? HTTPResponse(status: 503)
            }
            self.server.withLock { $0 = server }
        } catch let error as HTTPError {
            throw Failure("monitoring can't listen on \(endpoint): \(error.detail)", hint: error.hint)
        } catch {
            throw Failure("monitoring can't listen on \(endpoint): \(error)")
        }
    }

    /// The actual endpoint, even if the configuration asks for any free port.
    package var endpoint: Endpoint? { server.withLock { $0 }.map { Endpoint(host: $0.host, port: $0.port) } }

    package func stop() { server.withLock { $0.take() }?.stop(drainSeconds: 1) }

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        guard request.method == "GET" || request.method == "HEAD" else {
            return HTTPResponse(status: 405, headers: ["Allow": "GET, HEAD"])
        }
        switch request.path {
        case "/metrics":
            let page = StackMetrics.page(
                of: stack.configuration, client.heartbeats, lastSamples: newestSamples(), now: WallClock.now)
            return text(200, page.text, type: MetricsPage.contentType)
        case "/live": return text(200, "live\n")
        case "/ready":
            let readiness = Readiness(stack.names, client.heartbeats)
            return text(readiness.isReady ? 200 : 503, readiness.text)
        default: return text(404, "there are /metrics, /live and /ready\n")
        }
    }

    private func text(_ status: Int, _ text: String, type: String = "text/plain; charset=utf-8") -> HTTPResponse {
        HTTPResponse(
            status: status, headers: ["Content-Type": type, "Cache-Control": "no-store"], body: Array(text.utf8))
    }

    /// The end of the newest sample by type: from the observer if it is ready, otherwise from its last answer.
    private func newestSamples() -> [String: Instant] {
        let now = MonotonicClock.now
        let (known, isDue) = lastSamples.withLock { last in
            let isDue = last.asked.map { now - $0 >= Self.samplesAge } ?? true
            if isDue { last.asked = now }
            return (last.byType, isDue)
        }
        guard isDue, Readiness.isReady(client.heartbeats[stack.observer]) else { return known }
        // If the observer is too busy to answer, its own metrics show that.
        let answer: [Page<TypesPage>]?? = try? client.ask(stack.observer, .types, within: 1)
        guard let pages = answer ?? nil else { return known }
        let newest = StatusReport.byType(pages.first?.types ?? [])
        lastSamples.withLock { $0.byType = newest }
        return newest
    }
}
