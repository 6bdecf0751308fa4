import Client
import Foundation
import HealthModel
import MessageBus
import Protocol

/// Which instances of a stack are ready, judging by their heartbeats. Pure.
package struct Readiness: Sendable, Equatable {
    /// The instances that aren't ready, and why, in the order of the stack.
    package let waiting: [(name: String, why: String)]
    package let count: Int

    package var isReady: Bool { waiting.isEmpty }

    package static func == (a: Readiness, b: Readiness) -> Bool {
        a.count == b.count && a.waiting.elementsEqual(b.waiting) { $0 == $1 }
    }

    /// - Parameter names: the instances to judge.
    package init(_ names: [String], _ beats: Beats) {
        count = names.count
        waiting = names.compactMap { name in Self.why(beats[name]).map { (name, $0) } }
    }

    /// An instance without a heartbeat for this many seconds counts as gone.
    package static let patience = Repetition.silence.seconds

    package static func isUp(_ heard: (beat: Heartbeat, age: Double)?) -> Bool {
        heard.map { $0.age < patience && $0.beat.phase != .stopped } ?? false
    }

    package static func isReady(_ heard: (beat: Heartbeat, age: Double)?) -> Bool { why(heard) == nil }

    private static let silent = "not heard"

    private static func why(_ heard: (beat: Heartbeat, age: Double)?) -> String? {
        guard let heard else { return silent }
        guard heard.age < patience else { return "\(silent) for \(Int(heard.age)) s" }
        return heard.beat.phase == .ready ? nil : heard.beat.phase.rawValue
    }

    /// "not ready: no response from steps, energy; sleep: starting".
    package var problem: String {
        let silent = waiting.filter { $0.why.hasPrefix(Self.silent) }.map(\.name)
        if silent.count == count, count > 1 { return "nothing in this stack responds" }
        let others = waiting.filter { !$0.why.hasPrefix(Self.silent) }.map { "\($0.name): \($0.why)" }
        let all = silent.isEmpty ? others : ["no response from \(silent.joined(separator: ", "))"] + others
        return "not ready: \(all.joined(separator: "; "))"
    }

    /// "ready: 13 of 13", followed by the instances that aren't ready, one per line.
    package var text: String {
        "ready: \(count - waiting.count) of \(count)\n" + waiting.map { "\($0.name): \($0.why)\n" }.joined()
    }
}

extension Readiness {
    /// Listens to a stack until all of these instances are ready, or the given number of seconds has passed.
    package static func wait(for names: [String], of stack: Stack, within seconds: Double) throws -> Readiness {
        let client = try StackClient(address: try stack.address)
        defer { client.close() }
        let deadline = Date(timeIntervalSinceNow: seconds)
        while true {
            let now = Date()
            let readiness = Readiness(
                names,
                client.gather(
                    names, within: max(0, min(0.5, deadline.timeIntervalSince(now))), asking: stack.mayAsk))
            if readiness.isReady || Date() >= deadline { return readiness }
            client.wait(until: min(deadline, now.addingTimeInterval(0.1)))
        }
    }

    /// `{ready, instances, waiting: {instance: why}}`.
    package var json: String {
        let why = Dictionary(uniqueKeysWithValues: waiting.map { ($0.name, Value.string($0.why)) })
        let value: Value = ["ready": .bool(isReady), "instances": .integer(Int64(count)), "waiting": .object(why)]
        return value.json(pretty: true)
    }
}
