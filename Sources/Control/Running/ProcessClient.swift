import Client
import Clocks
import Configuration
import Foundation
import HealthModel
import Inspection
import Logging
import MessageBus
import Protocol

/// Stops one instance of a stack, or starts it again, and waits until that is done.
package struct ProcessClient {
    private let stack: Stack

    package init(_ stack: Stack) { self.stack = stack }

    /// - Parameter seconds: how long the process may take, once the supervisor has accepted the request.
    /// - Returns: whether the stack is running; if not, the request is stored for its next start.
    /// - Throws: `Failure` when the request can't be carried out, or wasn't carried out in time.
    package func set(_ instance: String, runs: Bool, within seconds: Double = 30) throws -> Bool {
        try ProcessRule.require(instance, runs: runs, in: stack.configuration)
        guard stack.isUp() else {
            if !runs, try stack.reader().isRunning(instance) {
                throw Failure(
                    "'\(instance)' is run by hand, not by 'healthbus up'",
                    hint: "end it where it was started; a service manager or container may have started it")
            }
            try note(instance, runs: runs)
            return false
        }
        let client = try StackClient(address: try stack.address)
        defer { client.close() }
        let wait = AnswerWait(client, for: "supervisor", hub: stack.hub)
        try wait.untilHeard()
        let wish = ProcessWish(id: UUID().uuidString.lowercased(), instance: instance, runs: runs)
        let outcome = try client.give(wish.body, to: "supervisor", within: 10, pause: 0.05) {
            client.heartbeats["supervisor"]?.beat.supervisor?.wishes?.first { $0.id == wish.id }
        }
        guard let outcome else {
            throw Failure(
                "the supervisor doesn't accept the command", hint: "'healthbus doctor' says why; try again")
        }
        if let problem = outcome.problem { throw Failure(problem) }
        try follow(instance, runs: runs, client, until: MonotonicClock.now + .seconds(seconds))
        return true
    }

    private func follow(_ instance: String, runs: Bool, _ client: StackClient, until deadline: MonotonicTime) throws {
        var state = "silent"
        while MonotonicClock.now < deadline {
            let processes = client.heartbeats["supervisor"]?.beat.supervisor?.processes ?? []
            state = processes.first { $0.name == instance }?.state ?? "silent"
            if state == (runs ? "ready" : "stopped") { return }
            client.wait(until: Date(timeIntervalSinceNow: 0.1))
        }
        throw Failure(
            "'\(instance)' isn't \(runs ? "ready" : "down") yet (\(state))",
            hint: "'healthbus status' shows its state, 'healthbus logs \(instance)' what it says")
    }

    /// Stores the request for the next start of a stack that isn't running.
    private func note(_ instance: String, runs: Bool) throws {
        try stack.requireState()
        try StateFolder.make(stack.supervisorFolder)
        guard let lock = try InstanceLock.take(folder: stack.supervisorFolder, waiting: 1) else {
            throw Failure("the stack is just starting", hint: "try again")
        }
        defer { withExtendedLifetime(lock) {} }
        try StackLayer(stack.state).setStopped(!runs, instance)
    }
}
