import HealthModel
import Protocol

/// What the system starts during a wake: the stack's own tasks, through their own commands.
extension StackApp {
    /// The processing tasks, in the order in which they may start.
    private static let processing = ["catch-up", "daily-energy", "healthkit-sync", "remote-sync", "consolidated-daily"]

    /// Repeated each second while the run lasts, like every command: a process that has just been started may not have
    /// heard of the phone's state yet.
    func ask(_ kind: WakeKind) {
        guard let number = phone?.runs else { return }
        switch kind {
        // The observer's fires are all that background delivery brings.
        case .delivery: break
        case .refresh: ask(in: number) { $0.launch(["refresh"]) }
        case .processing: ask(in: number) { $0.launch(Self.processing) }
        // By then a process that has just been started has heard of the phone's state.
        case .push: ask(in: number, after: .milliseconds(500)) { $0.push("push-\(number)") }
        }
    }

    private func ask(in number: Int, after delay: Duration = .milliseconds(20), _ command: @escaping (StackApp) -> Void)
    {
        time.at(now + delay) { [unowned self] in
            guard phone?.run?.number == number else { return }
            command(self)
            ask(in: number, after: .seconds(1), command)
        }
    }

    private func launch(_ tasks: [String]) {
        for host in taskHosts {
            let isConsolidator = host.plugin == "consolidator"
            for task in tasks where (task == "consolidated-daily") == isConsolidator {
                world.send("control.\(host.name)", .object(TaskCommand(.launch, task: task).body), from: "system")
            }
        }
    }

    /// What `/v1/wake` sends for a push.
    private func push(_ id: String) {
        for host in taskHosts where host.plugin == "debouncer" {
            world.send(WakeApp.topic(host.name), .object(WakeApp(id: id, sender: "push").body), from: "system")
        }
    }
}
