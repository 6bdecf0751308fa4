import Configuration
import Protocol

/// Instances that don't run, and those that run although the configuration doesn't have them.
extension Diagnosis {
    static let restart = "restart the stack: 'healthbus stop', then 'healthbus start'"

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

    func supervisedProcess(_ name: String) -> SupervisorDetails.Process? {
        seen.beats["supervisor"]?.beat.supervisor?.processes.first { $0.name == name }
    }

    func absent(_ name: String, _ supervised: SupervisorDetails.Process?) -> Finding {
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
