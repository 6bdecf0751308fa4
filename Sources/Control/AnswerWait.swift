import Client
import Clocks
import Doctor
import Foundation
import HealthModel
import Inspection
import Logging
import Terminal

/// What a command is waiting for. It is reported on standard error after a moment of silence, and as the reason when
/// the command gives up.
final class AnswerWait {
    /// Nothing is reported before this time has passed: most answers arrive at once.
    private static let silence = Duration.seconds(5)
    /// How long to wait for a process that sends no heartbeat. The process may be starting.
    static let patience = 20.0

    private let client: StackClient
    private let instance: String
    private let hub: String
    /// What hasn't happened if the instance is never heard from, such as "nothing was reset".
    private let undone: String
    private let report: (String) -> Void
    private var reportAt = MonotonicClock.now + silence

    init(
        _ client: StackClient, for instance: String, hub: String, undone: String = "nothing was changed",
        report: @escaping (String) -> Void = {
            LiveLine.error.say("healthbus: \($0)")
        }
    ) {
        (self.client, self.instance, self.hub) = (client, instance, hub)
        (self.undone, self.report) = (undone, report)
    }

    /// The process that sends no heartbeat: the instance, or the hub if no process sends any; nil when the instance
    /// sends them.
    private var silent: String? {
        let beats = client.heartbeats
        if Readiness.isUp(beats[instance]) { return nil }
        return beats.values.contains { Readiness.isUp($0) } ? instance : hub
    }

    /// Call this repeatedly while nothing has arrived.
    func look() {
        guard MonotonicClock.now >= reportAt else { return }
        reportAt = .distantFuture
        switch silent {
        case nil: report("waiting for '\(instance)'")
        case instance?: report("waiting for '\(instance)', which is running but not responding")
        case let hub?: report("waiting for '\(instance)': '\(hub)' isn't passing messages on")
        }
    }

    /// Records that something has arrived, so the next silence is reported again.
    func heard() { reportAt = MonotonicClock.now + Self.silence }

    /// Waits until a heartbeat of the instance arrives. A process that hangs isn't asked to do anything, because it
    /// might do it later, when nobody expects it any more.
    /// - Throws: `Failure` that says which process doesn't answer.
    func untilHeard(within seconds: Double = patience) throws {
        let deadline = MonotonicClock.now + .seconds(seconds)
        while let silent {
            guard MonotonicClock.now < deadline else { throw unasked(silent) }
            client.hello()
            look()
            client.wait(until: Date(timeIntervalSinceNow: 0.1))
        }
    }

    /// Why the request failed.
    /// - Parameter usual: the reason if the instance does send heartbeats.
    func failure(else usual: @autoclosure () -> Failure) -> Failure {
        silent.map {
            Failure(state(of: $0), hint: "what was asked may still be done when it continues; " + restart($0))
        } ?? usual()
    }

    private func unasked(_ silent: String) -> Failure {
        Failure("\(undone): \(state(of: silent))", hint: restart(silent) + "; then run this again")
    }

    private func state(of silent: String) -> String {
        silent == hub ? "'\(hub)' isn't passing messages on" : "'\(silent)' is running but not responding"
    }

    private func restart(_ silent: String) -> String {
        Finding.restart(
            silent, isSupervised: silent != hub && Readiness.isUp(client.heartbeats["supervisor"]))
    }
}

extension StackClient {
    /// Repeats a command until its effect shows, since messages on the bus may be lost. Repeating it must change
    /// nothing.
    /// - Parameters:
    ///   - command: evaluated each time it is sent.
    ///   - seconds: how long to keep trying.
    ///   - pause: seconds between two checks.
    ///   - meanwhile: called before the command is sent again, about every 300 ms.
    ///   - effect: returns the effect, or nil until it shows.
    /// - Returns: the effect; nil if it didn't show in time.
    func give<Effect>(
        _ command: @autoclosure () -> [String: Value], to instance: String, within seconds: Double,
        pause: Double = 0.05, meanwhile: () -> Void = {}, until effect: () throws -> Effect?
    ) throws -> Effect? {
        let deadline = MonotonicClock.now + .seconds(seconds)
        while MonotonicClock.now < deadline {
            self.command(instance, command())
            let step = MonotonicClock.now + .milliseconds(300)
            repeat {
                if let effect = try effect() { return effect }
                wait(until: Date(timeIntervalSinceNow: pause))
            } while MonotonicClock.now < step
            meanwhile()
        }
        return nil
    }
}
