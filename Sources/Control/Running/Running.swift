import Client
import Clocks
import Foundation
import Inspection
import MessageBus
import Protocol
import StageKit
import Supervisor
import Synchronization
import Terminal

/// A running supervisor and who directs it, for the threads that run alongside it.
final class Running: Sendable {
    let swaps: SwapDirector
    let director: ProcessDirector
    private struct Said {
        var details: SupervisorDetails?
        var repetition = Repetition(at: MonotonicClock.now)
    }

    private let supervisor = Mutex<Supervisor?>(nil)
    private let said = Mutex(Said())

    init(_ stack: Stack, _ processes: StackProcesses) throws {
        swaps = SwapDirector(stack, processes)
        director = try ProcessDirector(stack)
    }

    func start(_ new: Supervisor, _ client: StackClient) {
        supervisor.withLock { $0 = new }
        swaps.start(new, said: { client.beat() })
        director.start(new, said: { client.beat() })
    }

    /// Ends the threads alongside, then those that direct.
    func end() {
        supervisor.withLock { $0 = nil }
        LiveLine.error.end()
        swaps.stop()
        director.stop()
    }

    func stop() { supervisor.withLock { $0 }?.stop() }
    var goesOn: Bool { supervisor.withLock { $0 } != nil }

    var pace: BusConnection.Pace {
        let now = MonotonicClock.now
        return .every(said.withLock { $0.repetition.interval(at: now) })
    }

    /// The supervisor's heartbeat: its processes, and their states.
    var heartbeat: Message? {
        guard let statuses = supervisor.withLock({ $0 })?.statuses else { return nil }
        let details = SupervisorDetails(
            processes: statuses.map { status in
                .init(
                    name: status.name, state: status.state.rawValue, pid: status.pid.map { Int($0) },
                    restarts: status.restarts, lastExit: status.lastExit.map { "\($0)" })
            }, swaps: swaps.all, stopped: director.stopped.sorted(), wishes: director.outcomes)
        said.withLock { said in
            if details != said.details { said.repetition.moved(at: MonotonicClock.now) }
            said.details = details
        }
        var beat = Heartbeat(
            instance: "supervisor", plugin: "supervisor", phase: .ready,
            pid: Int(ProcessInfo.processInfo.processIdentifier), details: HeartbeatDetails(details))
        ProcessUse.report(&beat)
        return beat.message(at: WallClock.now)
    }
}
