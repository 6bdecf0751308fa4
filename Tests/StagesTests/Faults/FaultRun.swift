import Changelog
import Configuration
import DeliveryKit
import Foundation
import HandlerKit
import HealthModel
import HealthStore
import MessageBus
import ObserverReading
import Protocol
import SQLite
import Simulation
import StageKit
import TestSupport

/// One plan's run: faults, then quiet until all is done, then the comparison with a run of the same script in which
/// nothing went wrong.
final class FaultRun {
    var problems: [String] = []
    /// What happened, by kind; for the table of pairs, also which families.
    var counts: [String: Int] = [:]
    /// What the stages did while which faults were there.
    var states: Set<String> = []
    var families: Set<Fault.Family> = []
    private(set) var simulated = Duration.zero

    let plan: FaultPlan
    let isTraced: Bool
    private let data: SimulatedData
    let stack: SimulatedStack
    private let sender: PhoneSender
    let disk: FaultyDisk
    let other: ModelledDestination
    let destination: any DestinationModel
    let folder: TemporaryFolder
    var random: SimulatedRandom
    /// What is going wrong at the moment.
    var active: [Fault] = []
    /// The last heartbeat that each process sent, and when.
    private(set) var beats: [String: (message: Message, at: MonotonicTime)] = [:]
    private var isOver = false
    var hasBackup = false
    var backendBefore: FakeBackend?
    var olderCopies: Set<String> = []
    var swaps = 0
    /// Whose store is no longer what it was: it begins again, or goes back.
    var lost: Set<String> = []
    var flipped: Set<String> = []
    var didDestinationFail = false
    /// Whether the other destination went back to an earlier state.
    var isOtherOlder = false
    var hasClockJumped = false
    /// Whether the uploader hears nothing of the consolidator but answers.
    var isDeaf = false
    /// The names of all that were taken over.
    var takenOver: Set<String> = []

    /// Every day of the data is over, wherever the person was.
    static func end() throws -> Instant { try SimulatedData.end() + .seconds(86_400) }

    /// What is where, once all is done.
    struct Outcome {
        var problems: [String] = []
        /// At the backend, and at the other destination.
        var backend: [String: Value] = [:]
        var other: [String: Value] = [:]
        /// What the backend refuses.
        var letters: Set<FakeBackend.Key> = []
    }

    init(_ plan: FaultPlan, trace: Bool = false) throws {
        (self.plan, isTraced) = (plan, trace)
        random = SimulatedRandom(seed: plan.chance)
        data = try SimulatedData(seed: plan.script)
        folder = try TemporaryFolder()
        other = .of(script: plan.script)
        stack = try data.stack(seed: plan.chance, files: [], trace: trace, destinations: [other])
        var scripting = SimulatedRandom(seed: plan.script &* 0x9E37_79B9)
        let script = try PhoneScript(data, seed: plan.script, using: &scripting)
        stack.inbox = script.inputs.compactMap { if case .export(let file) = $0 { file } else { nil } }
        if plan.script % 3 == 2 {
            stack.backend.refuses = { $0["type"] == "HKQuantityTypeIdentifierRespiratoryRate" && $0["value"] == 13 }
        }
        sender = PhoneSender(script, to: stack)
        disk = try FaultyDisk(folder: stack.world.folder.path)
        destination = try other.model(in: stack)
        stack.others[other.plugin.name] = { [destination] in try destination.perform($0, of: $1) }
        prepare()
    }

    var world: SimulatedWorld { stack.world }
    func host(_ number: Int) -> SimulatedHost { world.hosts[number % world.hosts.count] }

    private func prepare() {
        world.isDurable = true
        world.eavesdropper = { [unowned self] message in
            sender.hear(message)
            if hasSmallPages, message.topic.hasPrefix("page."), message.body["rows"].array?.count ?? 0 > Self.rows {
                problems.append("a page is longer than its limit")
            }
            if Heartbeat.topic(message.header.from) == message.topic {
                beats[message.header.from] = (message, world.monotonic)
            }
            if !isOver, !active.isEmpty, let beat = Heartbeat(message) { note(beat) }
        }
        world.isCut = { [unowned self] topic, from, to in
            isDeaf(to, to: from, topic)
                || active.contains { fault in
                    guard case .cut(let one, let two) = fault.mishap else { return false }
                    let pair = [host(one).name, host(two).name]
                    return pair.contains(from) && pair.contains(to)
                }
        }
        // The file belongs to whoever took over.
        world.closeFile = { [unowned self] host, close in isGhost(host) ? close() : disk.kill(host.path, close) }
        world.stopped = { [unowned self] in try stopped($0, $1) }
        if hasSmallPages { cutPages() }
        poisonHandlers()
    }

    /// Answers come in many pages of a few rows, as those of a large store do.
    private var hasSmallPages: Bool { plan.chance % 3 == 1 }
    private static let rows = 5

    private func cutPages() {
        for host in world.hosts {
            if host.plugin == "observer" {
                host.makeSource = {
                    try ObserverSource(database: $0, limits: PullLimits(rows: Self.rows, bytes: 2000, scanned: 40))
                }
            } else if host.plugin == "consolidator" || LinkedHandler.named(host.plugin) != nil {
                // A row counts as 64 bytes at least.
                host.makeSource = { ChangelogSource(database: $0, pageBytes: 60 * Self.rows) }
            }
        }
    }

    /// A stage that can't continue ends its process. The supervisor starts it again, unless its file is damaged: then
    /// a person puts the file aside.
    private func stopped(_ host: SimulatedHost, _ error: any Error) throws {
        if isGhost(host) { return try end(ghost: host, because: error) }
        // A ghost that was to be started twice takes the file back once.
        if case ChangelogError.fenced = error, takenOver.contains(host.name) { return world.restart(host) }
        guard let error = error as? SQLiteError else { throw error }
        world.note(error.isCorrupt ? "damage found" : "disk error")
        if error.isCorrupt { lost.insert(host.name) }
        flipped.remove(host.name)
        world.restart(host, wiping: error.isCorrupt)
    }

    // MARK: The run

    /// Nothing goes wrong.
    static func calm(_ plan: FaultPlan) throws -> Outcome {
        let run = try FaultRun(plan)
        run.isOver = true
        run.sender.pause = 0
        run.sender.begin()
        return try run.outcome { run.sender.hasEnded }
    }

    /// Nothing goes wrong, and nothing is sent: what a new stack delivers from a copy of the observer's store.
    private func ofANewStack() throws -> Outcome {
        let run = try FaultRun(plan)
        run.isOver = true
        try Database(path: stack.observer.path, mode: .readOnly).copy(to: run.stack.observer.path)
        return try run.outcome { true }
    }

    private func outcome(isReady: () throws -> Bool) throws -> Outcome {
        try stack.start()
        world.wallOffset = try Self.end() - .microseconds(world.monotonic.microseconds)
        if let stuck = try stack.runUntilIdle(within: .seconds(900), isReady: isReady) {
            problems.append("without faults: \(stuck)")
        }
        try settleDestination()
        askDoctor()
        let (delivered, shown, letters) = (delivered, try shown(), try letters())
        let refused = stack.backend.refused.filter { !stack.backend.isDeleted($0) }
        if letters != refused { problems.append("without faults: dead letters \(letters), not \(refused)") }
        return Outcome(problems: problems, backend: delivered, other: shown, letters: letters)
    }

    /// What is at the backend.
    var delivered: [String: Value] {
        var alive: [String: Value] = [:]
        for kind in ["samples", "nights", "days", "workouts"] {
            for (key, content) in stack.backend.alive(kind) { alive["\(kind) \(key.user) \(key.id)"] = content }
        }
        return alive
    }

    /// What the other destination shows: if it shows the present day, then on the same date after each run.
    func shown() throws -> [String: Value] {
        guard destination.showsToday else { return try destination.contents() }
        // Yesterday is the last day of the data.
        world.wallOffset = try SimulatedData.end() - .microseconds(world.monotonic.microseconds)
        try world.run(for: .seconds(60))
        try settleDestination()
        return try destination.contents()
    }

    func run(against calm: Outcome) throws {
        let start = world.monotonic
        isDeaf = plan.isDeaf
        try setClock()
        try stack.start()
        sender.begin()
        for fault in plan.faults {
            world.schedule(
                .action { [unowned self] in if !isOver { try begin(fault) } },
                after: .microseconds(Int64(fault.at * 1e6)))
        }
        try world.run(for: .microseconds(Int64(plan.length * 1e6)))
        try endFaults()
        if !haveForgotten { try waitForTheDeaf(calm.backend) }
        isDeaf = false
        if let stuck = try stack.runUntilIdle(within: .seconds(900), isReady: { self.sender.hasEnded }) {
            problems.append("stuck: \(stuck)\(try positions)")
        } else if lost.isEmpty, !didDestinationFail {
            // Whoever waits until it is idle goes on now.
            try compare(delivered, with: calm.backend, at: "uploader", keepsWhatIsBeyond: true)
        }
        if isOtherOlder { try repairDestination() }
        // A day later everything is compared once more, and what was wrong an hour after that. After a clock jumped, it is
        // said that the last comparison was long ago.
        if didDestinationFail || !lost.isEmpty || hasClockJumped {
            for hours in [25, 2] {
                world.wallOffset += .seconds(hours * 3600)
                try world.run(for: .seconds(20))
                if let stuck = try stack.runUntilIdle(within: .seconds(900)) {
                    problems.append("stuck later: \(stuck)")
                }
                try settleDestination()
            }
        }
        try settleDestination()
        simulated = world.monotonic - start
        askDoctor()
        try compare(with: haveForgotten ? ofANewStack() : calm)
        if problems.isEmpty, plan.chance % 3 == 0 { try stayBroken() }
        counts.merge(world.counts, uniquingKeysWith: +)
    }

    /// From here on nothing goes wrong, and the clock is right.
    private func endFaults() throws {
        isOver = true
        for fault in active { try end(fault) }
        active = []
        endGhosts()
        world.faults = .init()
        bringToFront()
        destination.failureRate = 0
        stack.isTokenRefused = false
        for host in world.hosts {
            disk.heal(host.path)
            host.resume()
        }
        world.wallOffset = max(
            world.wallOffset, try Self.end() - .microseconds(world.monotonic.microseconds))
        // A late restart happens within this time.
        try world.run(for: .seconds(4))
        // A person has the files checked in which something may be wrong.
        for host in world.hosts where flipped.contains(host.name) && isDamaged(host) {
            lost.insert(host.name)
            world.restart(host, wiping: true)
        }
        try world.run(for: .seconds(4))
        if lost.contains(stack.observer.name), !plan.phonesForget {
            counts["sent again", default: 0] += 1
            sender.beginAgain()
        }
        sender.pause = 100_000
    }

    private func isDamaged(_ host: SimulatedHost) -> Bool {
        do { return try Database(path: host.path, mode: .readOnly).damage() != nil } catch { return true }
    }

    /// Without versions nobody knows whether what differs there is older, or was written by somebody else: that is said,
    /// and a person decides.
    private func repairDestination() throws {
        guard let instance = stack.configuration.instances.first(where: { $0.name == other.plugin.name }),
            let declared = instance.manifest.destination, declared.keeps == .latest, declared.isVerified,
            let host = world.hosts.first(where: { $0.name == instance.name })
        else { return }
        ask("verify", host)
        try world.run(for: .seconds(20))
        if let stuck = try stack.runUntilIdle(within: .seconds(900)) { problems.append("stuck in a repair: \(stuck)") }
        try settleDestination()
    }

    /// Files are written once nothing has changed for a while; what somebody removed, once that is noticed.
    func settleDestination() throws {
        var isWaiting = true
        for _ in 0..<60 where isWaiting {
            try world.run(for: .seconds(5))
            isWaiting = destination.takeIsBusy()
        }
        if isWaiting { problems.append("the other destination is still being written to") }
    }
}
