import Configuration
import Inspection
import Protocol

/// Whether what ought to run does, and is heard.
extension Diagnosis {
    static let restart = "restart the stack: 'healthbus stop', then 'healthbus start'"

    var notAFolder: Finding? { seen.isFile ? .notAFolder(seen.state) : nil }

    var nothingRuns: Finding? {
        seen.isFile
            ? nil : Finding(.error, seen.state, "no stack is running in it", remedy: "start it with \(seen.start)")
    }

    /// Processes exist, but none sends a heartbeat.
    var silence: Finding? {
        let hub = seen.stack.only(.hub)?.name ?? "hub"
        return seen.held.contains(hub)
            ? Finding(
                .error, hub, "runs, but isn't passing messages on",
                remedy: Finding.restart(hub, isSupervised: false)
                    + "; if that doesn't help, look at 'healthbus logs \(hub)'")
            : Finding(
                .error, hub, "doesn't run: no process can reach another",
                remedy: "start the stack, or the hub alone with 'healthbus run \(hub)'")
    }

    /// A supervisor that hangs doesn't look after any process.
    var supervisor: Finding? {
        guard seen.held.contains("supervisor"), !Readiness.isUp(seen.beats["supervisor"]) else { return nil }
        return Finding(
            .error, "supervisor", "runs, but isn't heard from: nothing that ends is restarted",
            remedy: Finding.restart("supervisor", isSupervised: false))
    }

    /// The instances that the running stack was started with; nil if nobody says so.
    private var runningProcesses: Set<String>? {
        guard Readiness.isUp(seen.beats["supervisor"]),
            let processes = seen.beats["supervisor"]?.beat.supervisor?.processes, !processes.isEmpty
        else { return nil }
        return Set(processes.map(\.name))
    }

    /// What runs although the configuration doesn't have it any more.
    var leftOver: [Finding] {
        guard seen.mistakes.isEmpty else { return [] }
        // A plugin that is being swapped in runs under a name that no instance can have.
        return (runningProcesses ?? []).subtracting(seen.stack.instances.map(\.name))
            .filter(StackConfiguration.isName).sorted().map {
                Finding(.warning, $0, "runs, but isn't in the configuration any more", remedy: Self.restart)
            }
    }

    func absent(_ name: String) -> Finding {
        absence(name).asCause(because: isFull ? [seen.state] : [])
    }

    private func absence(_ name: String) -> Finding {
        let supervised = seen.supervised(name)
        let log = "'healthbus logs \(name)' says why"
        if seen.beats["supervisor"]?.beat.supervisor?.stopped?.contains(name) == true {
            return Finding(.warning, name, "was stopped by hand", remedy: "'healthbus start \(name)' starts it")
        }
        switch supervised?.state {
        case "backoff":
            let why = supervised?.lastExit.map { " with \($0)" } ?? ""
            return Finding(.error, name, "ended\(why), and will be restarted after a while", remedy: log)
        case "failed": return Finding(.error, name, "ended, and won't be restarted", remedy: log)
        case "starting": return Finding(.warning, name, "is starting", remedy: "wait a moment; then \(log)")
        default: break
        }
        if let running = runningProcesses, !running.contains(name), !seen.held.contains(name) {
            return Finding(
                .warning, name, "is in the configuration, but the running stack was started without it",
                remedy: Self.restart)
        }
        return seen.held.contains(name)
            ? Finding(
                .error, name, "runs, but isn't heard from: it hangs, is stopped, or can't reach the hub",
                remedy: Finding.restart(name, isSupervised: Readiness.isUp(seen.beats["supervisor"])))
            : Finding(.error, name, "doesn't run", remedy: "start the stack, or 'healthbus run \(name)'; \(log)")
    }
}
