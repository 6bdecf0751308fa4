import Configuration
import HealthModel
import Inspection
import Protocol

/// An instance that was heard from lately. The rules about its process are here, those about its work beside it.
struct HeardInstance {
    let seen: Examination
    let instance: StackConfiguration.Instance
    let beat: Heartbeat
    /// What it reports of its deliveries; nil if it isn't a destination.
    let uploader: UploaderDetails?
    let backlog: Backlog
    private let supervised: SupervisorDetails.Process?

    /// Nil if it wasn't heard from.
    init?(_ instance: StackConfiguration.Instance, in seen: Examination) {
        guard let (beat, age) = seen.beats[instance.name], age < Readiness.patience else { return nil }
        (self.seen, self.instance, self.beat) = (seen, instance, beat)
        uploader = beat.uploader
        backlog = Backlog(of: beat, instance.name, in: seen)
        supervised = seen.supervised(instance.name)
    }

    var name: String { instance.name }

    /// What its plugin declares about where it delivers; the usual for one that doesn't.
    var destination: DestinationDeclaration { instance.manifest.destination ?? .init(.backend) }

    /// The stack's own backend, if it has one.
    var backend: String? { seen.stack.only(.backend)?.name }

    func error(_ what: String, remedy: String) -> Finding { Finding(.error, name, what, remedy: remedy) }
    func warning(_ what: String, remedy: String) -> Finding { Finding(.warning, name, what, remedy: remedy) }
    func note(_ what: String, remedy: String) -> Finding { Finding(.note, name, what, remedy: remedy) }

    var notReady: Finding? {
        guard beat.phase != .ready else { return nil }
        return error(
            "isn't ready (\(beat.phase.rawValue))", remedy: "wait a moment; then look at 'healthbus logs \(name)'"
        ).asCause()
    }

    var restarts: Finding? {
        // A process that has run for an hour since isn't failing any more.
        let isNewlyStarted = beat.started.map { seen.now - $0 < .seconds(3600) } ?? true
        guard let supervised, supervised.restarts > 2, isNewlyStarted else { return nil }
        let last = supervised.lastExit.map { ", the last time after \($0)" } ?? ""
        // A process killed by a signal can't log the reason; the supervisor logs it instead.
        let isKilled = supervised.lastExit?.hasPrefix("signal ") == true
        let log = isKilled ? "'healthbus logs supervisor'" : "'healthbus logs \(name) --level error'"
        return warning("was restarted \(supervised.restarts) times\(last)", remedy: "\(log) says why it ended")
    }

    var runByHand: Finding? {
        guard let pid = supervised?.pid, pid != beat.pid else { return nil }
        return warning(
            "is process \(beat.pid), run by hand; the supervisor's own, process \(pid), waits for its place",
            remedy: "nothing if that is intended; 'kill \(beat.pid)' ends it; then the supervisor's takes over")
    }

    var otherConfiguration: Finding? {
        // What can't be read of the configuration can't be compared.
        guard let reported = beat.configuration, reported != instance.fingerprint, seen.mistakes.isEmpty else {
            return nil
        }
        return warning("runs with another configuration or version than the one on disk", remedy: Diagnosis.restart)
    }
}

extension Examination {
    /// What the supervisor says about an instance's process.
    func supervised(_ name: String) -> SupervisorDetails.Process? {
        beats["supervisor"]?.beat.supervisor?.processes.first { $0.name == name }
    }
}
