import Dispatch
import Foundation
import HTTP
import PluginKit
import Synchronization

/// Sends the uploader's requests, each of two at a time on a connection and a thread of its own.
public final class UploadRunner: EffectRunner {
    private struct Job: Sendable {
        var effect: Effect
        var request: UploadRequest
        var reply: @Sendable (EffectResult) -> Bool
    }

    private let jobs = Mailbox<Job>(capacity: 8)
    private let token: TokenSource
    private let watcher = Mutex<PathWatcher?>(nil)

    /// - Throws: `HTTPError` for a URL that can't be used.
    public init(base: String, timeout: Double, token: TokenSource, connections: Int = 2) throws {
        self.token = token
        let jobs = jobs
        for number in 1...connections {
            let client = try HTTPClient(base: base)
            let thread = Thread {
                while !jobs.isClosed {
                    for job in jobs.take(limit: 1, timeout: 60) {
                        _ = job.reply(
                            EffectResult(id: job.effect.id, value: Self.send(job.request, client, token, timeout)))
                    }
                }
            }
            thread.name = "upload \(number)"
            thread.start()
        }
    }

    public func perform(_ effect: Effect, reply: @escaping @Sendable (EffectResult) -> Bool) {
        if effect.request is WatchPath { return watchPath(effect, reply) }
        guard let request = effect.request as? UploadRequest else { return }
        jobs.insist(Job(effect: effect, request: request, reply: reply))
    }

    /// What is under way may be cut off: its anchor hasn't moved, and it is sent again.
    public func stop() {
        jobs.close()
        watcher.withLock { $0 }?.stop()
    }

    private func watchPath(_ effect: Effect, _ reply: @escaping @Sendable (EffectResult) -> Bool) {
        do {
            let new = try PathWatcher { reply(EffectResult(id: effect.id, value: PathNews.path($0))) }
            watcher.withLock { $0 = new }
        } catch {
            let reason = "\(error)"
            // Beside the stage's thread, which mustn't wait for itself.
            Thread { _ = reply(EffectResult(id: effect.id, value: PathNews.unknown(reason))) }.start()
        }
    }

    private static func send(_ request: UploadRequest, _ client: HTTPClient, _ token: TokenSource, _ timeout: Double)
        -> UploadReply
    {
        do {
            let bearer = try token.current(refresh: request.refreshToken)
            let response = try client.send(
                HTTPRequest(
                    method: "POST", path: request.path,
                    headers: ["Authorization": "Bearer \(bearer)", "Content-Type": "application/json"],
                    body: request.body),
                timeout: timeout)
            return .answered(status: response.status, retryAfter: response.headers["Retry-After"], body: response.body)
        } catch let error as HTTPError {
            return .failed(error)
        } catch {
            return .noToken("\(error)")
        }
    }
}
