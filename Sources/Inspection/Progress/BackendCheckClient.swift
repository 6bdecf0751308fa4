import Client
import Clocks
import Configuration
import Foundation
import HealthModel
import Protocol

/// Has uploaders check at once whether their backends still hold what they accepted, and waits a while for the result.
package struct BackendCheckClient {
    /// Running uploaders.
    package let uploaders: [String]
    package let id = UUID().uuidString.lowercased()
    /// Whether uploaders should also try at once to send waiting elements.
    let sends: Bool

    package init(uploaders: [String], sends: Bool) { (self.uploaders, self.sends) = (uploaders, sends) }

    /// How many seconds to wait for a backend's answer.
    package static let patience = 8.0

    /// Repeats the request until each uploader has reported its backend's answer, or why there is none.
    /// - Returns: the uploaders that have reported neither.
    @discardableResult
    package func ask(_ client: StackClient, within seconds: Double = patience) -> [String] {
        let deadline = MonotonicClock.now + .seconds(seconds)
        var nextSaying = MonotonicTime.distantPast
        while true {
            let silent = uploaders.filter { client.heartbeats[$0]?.beat.uploader?.backend.check != id }
            guard !silent.isEmpty, MonotonicClock.now < deadline else { return silent }
            // The request is repeated, since it may be lost.
            if MonotonicClock.now >= nextSaying {
                for uploader in silent {
                    client.command(uploader, CompareBackend(id: id, send: sends ? true : nil).body)
                }
                nextSaying = MonotonicClock.now + .milliseconds(300)
            }
            client.wait(until: Date(timeIntervalSinceNow: 0.05))
        }
    }
}

extension BackendCheckClient {
    /// Includes those of a stack's uploaders that are ready and understand the request; an uploader from an earlier
    /// release doesn't understand it.
    package init(_ stack: Stack, _ beats: Beats, sends: Bool) {
        self.init(
            uploaders: stack.configuration.instances.filter { instance in
                instance.manifest.kind == .uploader && Readiness.isReady(beats[instance.name])
                    && beats[instance.name]?.beat.uploader != nil
            }.map(\.name), sends: sends)
    }

    /// Asks running uploaders, before their state is shown.
    package static func run(_ stack: Stack) throws {
        guard stack.mayAsk else { return }
        let client = try StackClient(address: try stack.address)
        defer { client.close() }
        let names = stack.configuration.instances.filter { $0.manifest.kind == .uploader }.map(\.name)
        Self(stack, client.gather(names, within: 2), sends: false).ask(client)
    }
}
