import Foundation
import HealthModel
import Logging
import MessageBus
import Protocol
import StageKit

/// The bus, the clocks and the mishaps of one simulation, all from one seed.
package final class SimulatedWorld {
    package enum Event {
        case turn(SimulatedHost, life: Int)
        case wake(SimulatedHost, number: Int)
        case beat(SimulatedHost, number: Int)
        case deliver(SimulatedHost, Message)
        case effect(SimulatedHost, life: Int, EffectResult)
        case start(SimulatedHost)
        case action(() throws -> Void)
    }

    /// Where in a turn a process ends.
    package enum CrashPoint: CaseIterable { case beforeCommit, afterCommit, amongMessages, amongEffects }

    /// What may go wrong, each with its probability.
    package struct Faults {
        package var drop = 0.0
        package var duplicate = 0.0
        /// A message arrives up to 3 s late, so that others can overtake it.
        package var delay = 0.0
        /// The process ends during a turn.
        package var crash = 0.0
        /// A turn begins up to 0.4 s late.
        package var slow = 0.0
        package var upload = 0.0

        package init() {}
    }

    package let folder: SimulatedFolder
    package private(set) var random: SimulatedRandom
    package var faults = Faults()
    package var hosts: [SimulatedHost] = []
    /// Processes that another has taken the place of, and which still run.
    package var ghosts: [SimulatedHost] = []
    private var queue = EventQueue<Event>()
    package private(set) var monotonic = MonotonicTime(microseconds: 1_000_000_000)
    /// What the wall clock shows when the monotonic clock is at 0.
    package var wallOffset: Instant
    private var deadline = MonotonicTime.distantPast
    /// Performs what a stage requests outside the bus.
    package var effects: (Effect, SimulatedHost) throws -> Void = { _, _ in }
    /// Whom the processes trust; nil for everybody.
    package var trust: BusTrust?
    /// Called with the topic of every message that is sent.
    package var witness: (String) -> Void = { _ in }
    /// Hears every message, as a tap does, and may also send.
    package var eavesdropper: (Message) -> Void = { _ in }
    /// Whether a message doesn't get from one process to another.
    package var isCut: (_ topic: String, _ from: String, _ to: String) -> Bool = { _, _, _ in false }
    /// Ends a process's access to its file, by closing it. A disk that can fail stops all writing before.
    package var closeFile: (SimulatedHost, _ close: () -> Void) -> Void = { $1() }
    /// What happens to a process whose stage can't continue.
    package var stopped: (SimulatedHost, any Error) throws -> Void = { throw $1 }
    package private(set) var counts: [String: Int] = [:]
    package private(set) var failure: (any Error)?
    package let trace: Bool
    /// Whether latencies are constant, no heartbeat is repeated (none is lost), and a process that nobody listens to rests
    /// until its next deadline, so that months pass in seconds.
    package var isSteady = false
    /// How long a message travels.
    private static let travel = Duration.microseconds(150)
    /// How long a message travels, and how long a process takes to start its next turn, while `isSteady`. The times are
    /// those of a busy phone, so that a turn takes in several messages.
    private static let steadyTravel = Duration.milliseconds(4)
    private static let steadyLatency = Duration.milliseconds(40)
    /// Whether commits reach the disk as in a real process. Without that, only a process may end, never the machine.
    package var isDurable = false
    /// When a process last committed or performed an effect. Asking for data doesn't count as work: a locked phone
    /// refuses each time.
    package var lastWork = MonotonicTime.distantPast

    package init(seed: UInt64, wall: Instant, trace: Bool = false) throws {
        folder = try SimulatedFolder()
        random = SimulatedRandom(seed: seed)
        wallOffset = wall - .microseconds(monotonic.microseconds)
        self.trace = trace
    }

    /// The wall clock, which jumps.
    package var now: Instant { Instant(microseconds: monotonic.microseconds + wallOffset.microseconds) }

    package func schedule(_ event: Event, after delay: Duration) { queue.add(event, at: monotonic + max(.zero, delay)) }

    package func chance(_ probability: Double) -> Bool {
        probability > 0 && Double.random(in: 0..<1, using: &random) < probability
    }

    package func pick<Bound: FixedWidthInteger>(_ range: ClosedRange<Bound>) -> Bound {
        Bound.random(in: range, using: &random)
    }

    /// How many of them happen before the process ends; all if it doesn't.
    func some(of count: Int, if ends: Bool) -> Int { ends && count > 0 ? pick(0...count - 1) : count }

    package func time(microseconds range: ClosedRange<Int64>) -> Duration { .microseconds(pick(range)) }

    /// How long a process takes to start its next turn.
    package func latency() -> Duration {
        isSteady ? Self.steadyLatency : time(microseconds: chance(faults.slow) ? 0...400_000 : 100...1500)
    }

    /// Random numbers for one life of a process, the same on every run with a seed. Draws nothing from the world's own
    /// random stream, so that the mishaps don't change.
    func random(for name: String, _ life: Int) -> SimulatedRandom {
        var seed = random
        let place = name.utf8.reduce(into: UInt64(life)) { $0 = $0 &* 31 &+ UInt64($1) }
        return SimulatedRandom(seed: seed.next() ^ place)
    }

    package func note(_ what: String) { counts[what, default: 0] += 1 }

    package func log(_ name: String) -> StageLog {
        guard trace else { return .silent }
        let at = Double(monotonic.microseconds) / 1e6
        return StageLog(isWanted: { $0.level(failed: $1) > .debug }) { event, _, fields in
            let said = fields.map { "\($0)=\($1)" }.joined(separator: " ")
            print(String(format: "%10.3f", at), name, event.name, said)
        }
    }

    // MARK: The bus

    package func send(_ topic: String, _ body: Value, from: String) {
        witness(topic)
        let message = Message(topic: topic, header: .init(from: from, at: now), body: body)
        eavesdropper(message)
        for host in hosts + ghosts where host.hears(topic) {
            if isCut(topic, from, host.name) || chance(faults.drop) {
                note("dropped")
                continue
            }
            if chance(faults.duplicate) {
                note("duplicated")
                schedule(.deliver(host, message), after: time(microseconds: 0...2_000_000))
            }
            let late = chance(faults.delay)
            if late { note("delayed") }
            // What isn't delayed arrives in the order in which it was sent.
            let usual = isSteady ? Self.steadyTravel : Self.travel
            schedule(.deliver(host, message), after: late ? time(microseconds: 0...3_000_000) : usual)
        }
    }

    package func perform(_ effect: Effect, of host: SimulatedHost) {
        do { try effects(effect, host) } catch { fail(error) }
    }

    private func fail(_ error: any Error) { if failure == nil { failure = error } }

    // MARK: Time

    /// Runs for the given time (by the monotonic clock, not counting time spent suspended) or until `isDone`, which is
    /// checked between events. The first event at or after the end still happens, and time then stands at that event;
    /// if there are no more events, it ends early.
    /// - Throws: why a stage couldn't continue.
    package func run(for time: Duration, isDone: () throws -> Bool = { false }) throws {
        var checked = MonotonicTime.distantPast
        deadline = monotonic + time
        while monotonic < deadline, let (at, event) = queue.next() {
            monotonic = max(monotonic, at)
            try handle(event)
            if let failure { throw failure }
            // Checked ten times per simulated second, which is often enough and costs little.
            if monotonic - checked >= .milliseconds(100) {
                checked = monotonic
                if try isDone() { return }
            }
        }
    }

    private func handle(_ event: Event) throws {
        switch event {
        case .turn(let host, let life):
            guard host.isAwake, host.lives == life else { return }
            let points = CrashPoint.allCases
            let point = chance(faults.crash) ? points[pick(0...points.count - 1)] : nil
            try guarding(host) { try host.runTurn(crash: point) }
            if point != nil { restart(host) }
        case .wake(let host, let number): host.wakeUp(number)
        case .beat(let host, let number): host.beatAgain(number)
        case .deliver(let host, let message): try guarding(host) { try host.deliver(message) }
        case .effect(let host, let life, let result):
            if host.isRunning, host.lives == life { host.take(.effect(result)) }
        case .start(let host): if !host.isRunning { try guarding(host) { try host.start() } }
        case .action(let action): try action()
        }
    }

    private func guarding(_ host: SimulatedHost, _ step: () throws -> Void) throws {
        do { try step() } catch { try stopped(host, error) }
    }

    /// Whether any other process would hear a message from this one.
    func isHeard(_ host: SimulatedHost) -> Bool {
        !isSteady || hosts.contains { $0 !== host && $0.isAwake }
    }

    /// Ends a process now and restarts it after a while, as the supervisor would.
    package func restart(_ host: SimulatedHost, wiping: Bool = false) {
        note(wiping ? "wiped" : "crashed")
        do { try wiping ? host.wipe() : host.crash() } catch { fail(error) }
        schedule(.start(host), after: time(microseconds: 50_000...3_000_000))
    }

    /// Suspends everything, as on a laptop that is asleep: all clocks keep running, but nothing else happens.
    package func suspend(_ time: Duration) {
        note("suspended")
        monotonic += time
        deadline += time
    }
}

/// A folder that is deleted with its owner. It is in memory if the machine has a place for that, since simulations
/// write thousands of transactions.
package final class SimulatedFolder {
    package let path: String

    package init() throws {
        let memory = "/dev/shm"
        let base =
            FileManager.default.isWritableFile(atPath: memory)
            ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
        path = base.appendingPathComponent("healthbus-\(getpid())-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            FileHandle.standardError.write(Data("left behind: \(path): \(error)\n".utf8))
        }
    }
}

/// The same numbers on every run (SplitMix64), so that a failing case can be reproduced.
package struct SimulatedRandom: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
