import Client
import Clocks
import Configuration
import Foundation
import HealthModel
import Protocol

/// Has uploaders compare what their backends hold with what they took, now, and waits for it a while.
package struct BackendCheckClient {
    /// Uploaders that run.
    package let uploaders: [String]
    package let id = UUID().uuidString.lowercased()
    /// Whether whatever waits to be sent is tried at once, too.
    let sends: Bool

    package init(uploaders: [String], sends: Bool) { (self.uploaders, self.sends) = (uploaders, sends) }

    /// A backend that hasn't answered by then isn't waited for.
    package static let patience = 8.0

    /// Says it until each has answered for its backend, or for why it can't.
    /// - Returns: those that haven't.
    @discardableResult
    package func ask(_ client: StackClient, within seconds: Double = patience) -> [String] {
        let deadline = MonotonicClock.now + .seconds(seconds)
        var nextSaying = MonotonicTime.distantPast
        while true {
            let silent = uploaders.filter { client.heartbeats[$0]?.beat.uploader?.backend.check != id }
            guard !silent.isEmpty, MonotonicClock.now < deadline else { return silent }
            // Again and again: it may be lost.
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
    /// Those of a stack that are heard and that know what is asked of them; an uploader of an earlier release doesn't.
    package init(_ stack: Stack, _ beats: [String: (beat: Heartbeat, age: Double)], sends: Bool) {
        self.init(
            uploaders: stack.configuration.instances.filter { instance in
                instance.manifest.kind == .uploader && Readiness.isReady(beats[instance.name])
                    && beats[instance.name]?.beat.uploader != nil
            }.map(\.name), sends: sends)
    }

    /// Asks those that run, before somebody looks how they are.
    static func run(_ stack: Stack) throws {
        guard stack.mayAsk else { return }
        let client = try StackClient(address: try stack.address)
        defer { client.close() }
        let names = stack.configuration.instances.filter { $0.manifest.kind == .uploader }.map(\.name)
        Self(stack, client.gather(names, within: 2), sends: false).ask(client)
    }
}
