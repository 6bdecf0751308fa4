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
    private(set) var counts: [String: Int] = [:]
    /// What the stages did while which faults were there.
    private(set) var states: Set<String> = []
    private(set) var families: Set<Fault.Family> = []
    private(set) var simulated = Duration.zero

    let plan: FaultPlan
    private let isTraced: Bool
    private let data: SimulatedData
    let stack: SimulatedStack
    private let sender: PhoneSender
    let disk: FaultyDisk
    let other: ModelledDestination
    let destination: any DestinationModel
    private let folder: TemporaryFolder
    private var random: SimulatedRandom
    /// What is going wrong at the moment.
    var active: [Fault] = []
    /// The last heartbeat that each process sent, and when.
    private(set) var beats: [String: (message: Message, at: MonotonicTime)] = [:]
    private var isOver = false
    private var hasBackup = false
    private var backendBefore: FakeBackend?
    private var olderCopies: Set<String> = []
    private var swaps = 0
    /// Whose store is no longer what it was: it begins again, or goes back.
    private var lost: Set<String> = []
    private var flipped: Set<String> = []
    private var didDestinationFail = false
    /// Whether the other destination went back to an earlier state.
    private var isOtherOlder = false
    private var hasClockJumped = false
    /// Processes that another has taken the place of.
    var ghosts: [SimulatedHost] = []

    /// Every day of the data is over, wherever the person was.
    private static func end() throws -> Instant { try SimulatedData.end() + .seconds(86_400) }

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
            if hasSmallPages, message.topic.hasPrefix("page."), message.body["rows"].array?.count ?? 0 > 5 {
                problems.append("a page is longer than its limit")
            }
            if Heartbeat.topic(message.header.from) == message.topic {
                beats[message.header.from] = (message, world.monotonic)
            }
            if !isOver, !active.isEmpty, let beat = Heartbeat(message) { note(beat) }
        }
        world.isCut = { [unowned self] from, to in
            active.contains { fault in
                guard case .cut(let one, let two) = fault.mishap else { return false }
                let pair = [host(one).name, host(two).name]
                return pair.contains(from) && pair.contains(to)
            }
        }
        // The file belongs to whoever took over.
        world.closeFile = { [unowned self] host, close in isGhost(host) ? close() : disk.kill(host.path, close) }
        world.stopped = { [unowned self] in try stopped($0, $1) }
        if hasSmallPages { cutPages() }
    }

    /// Answers come in many pages of a few rows, as those of a large store do.
    private var hasSmallPages: Bool { plan.chance % 3 == 1 }

    private func cutPages() {
        for host in world.hosts {
            if host.plugin == "observer" {
                host.makeSource = {
                    try ObserverSource(database: $0, limits: PullLimits(rows: 5, bytes: 2000, scanned: 40))
                }
            } else if host.plugin == "consolidator" || LinkedHandler.named(host.plugin) != nil {
                host.makeSource = { ChangelogSource(database: $0, pageBytes: 300) }
            }
        }
    }

    /// A stage that can't continue ends its process. The supervisor starts it again, unless its file is damaged: then
    /// a person puts the file aside.
    private func stopped(_ host: SimulatedHost, _ error: any Error) throws {
        if isGhost(host) { return try end(ghost: host, because: error) }
        if case ChangelogError.fenced = error { return world.restart(host) }
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
        try run.stack.start()
        run.sender.begin()
        run.world.wallOffset = try Self.end() - .microseconds(run.world.monotonic.microseconds)
        if let stuck = try run.stack.runUntilIdle(within: .seconds(900), isReady: { run.sender.hasEnded }) {
            run.problems.append("without faults: \(stuck)")
        }
        try run.settleDestination()
        run.askDoctor()
        let (delivered, shown) = (run.delivered, try run.shown())
        return Outcome(problems: run.problems, backend: delivered, other: shown, letters: try run.letters())
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
    private func shown() throws -> [String: Value] {
        guard destination.showsToday else { return try destination.contents() }
        // Yesterday is the last day of the data.
        world.wallOffset = try SimulatedData.end() - .microseconds(world.monotonic.microseconds)
        try world.run(for: .seconds(60))
        try settleDestination()
        return try destination.contents()
    }

    func run(against calm: Outcome) throws {
        let start = world.monotonic
        world.wallOffset = try Self.end() - .microseconds(world.monotonic.microseconds)
        try stack.start()
        sender.begin()
        for fault in plan.faults {
            world.schedule(
                .action { [unowned self] in if !isOver { try begin(fault) } },
                after: .microseconds(Int64(fault.at * 1e6)))
        }
        try world.run(for: .microseconds(Int64(plan.length * 1e6)))
        try endFaults()
        if let stuck = try stack.runUntilIdle(within: .seconds(900), isReady: { self.sender.hasEnded }) {
            problems.append("stuck: \(stuck)\(try positions)")
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
        try compare(with: calm)
        if problems.isEmpty, plan.chance % 3 == 0 { try stayBroken() }
        counts.merge(world.counts, uniquingKeysWith: +)
    }

    /// From here on nothing goes wrong, and the clock is right.
    private func endFaults() throws {
        isOver = true
        for fault in active { try end(fault) }
        active = []
        endGhosts()
        world.faults = .none
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
        if lost.contains(stack.observer.name) {
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

    // MARK: Faults

    func begin(_ fault: Fault) throws {
        families.insert(fault.family)
        counts["\(fault.family)", default: 0] += 1
        if fault.seconds > 0 {
            active.append(fault)
            world.schedule(
                .action { [unowned self] in
                    guard let index = active.firstIndex(of: fault) else { return }
                    active.remove(at: index)
                    try end(fault)
                }, after: .microseconds(Int64(fault.seconds * 1e6)))
        }
        switch fault.mishap {
        case .lose(let chance): world.faults.drop = chance
        case .double(let chance): world.faults.duplicate = chance
        case .delay(let chance): world.faults.delay = chance
        case .slow(let chance): world.faults.slow = chance
        case .die(let chance): world.faults.crash = chance
        case .misanswer(let chance): (world.faults.upload, destination.failureRate) = (chance, chance)
        case .noToken: stack.isTokenRefused = true
        case .cut: break
        case .stop(let number): host(number).suspend()
        case .takeOver(let number): try takeOver(host(number))
        case .kill(let number): world.restart(host(number))
        case .killAll: for host in world.hosts.shuffled(using: &random) { world.restart(host) }
        case .swap(let number): swap(host(number))
        case .reset(let number): ask("reset", host(number))
        case .replay(let number): ask("replay", host(number))
        case .backup: try backUp()
        case .restore: try restore()
        case .jump(let hours):
            hasClockJumped = true
            world.wallOffset += .seconds(Int64(hours) * 3600)
        case .sleep(let minutes): world.suspend(.seconds(Int64(minutes) * 60))
        case .disk(let number, let failure, let after, let times):
            disk.fail(host(number).path, failure, after: after, times: times)
        case .losePower: losePower()
        case .lie(let number): disk.lie(about: host(number).path)
        case .olderCopy(let number): try putBack(host(number))
        case .wipe(let number):
            endGhosts()
            lost.insert(host(number).name)
            world.restart(host(number), wiping: true)
        case .flip(let number): try flip(host(number))
        case .forget:
            didDestinationFail = true
            stack.replaceBackend()
        case .rollBack:
            if let before = backendBefore {
                didDestinationFail = true
                stack.backend = before
            }
            backendBefore = stack.backend
        case .forgetOther:
            didDestinationFail = true
            try destination.forget()
        case .rollBackOther:
            if try destination.rollBack() { (didDestinationFail, isOtherOlder) = (true, true) }
        }
    }

    func end(_ fault: Fault) throws {
        switch fault.mishap {
        case .lose: world.faults.drop = 0
        case .double: world.faults.duplicate = 0
        case .delay: world.faults.delay = 0
        case .slow: world.faults.slow = 0
        case .die: world.faults.crash = 0
        case .misanswer: (world.faults.upload, destination.failureRate) = (0, 0)
        case .noToken: stack.isTokenRefused = false
        case .stop(let number): host(number).resume()
        case .takeOver: wakeGhosts()
        case .disk(let number, _, _, _): disk.heal(host(number).path)
        default: break
        }
    }

    /// The same plugin in another version takes a handler's place.
    private func swap(_ host: SimulatedHost) {
        swaps += 1
        guard let other = stack.handler(host.name, version: swaps) else { return }
        world.note("swapped")
        host.makeStage = other
        world.restart(host)
    }

    func ask(_ action: String, _ host: SimulatedHost) {
        guard host !== stack.observer else { return }
        var request = RepairRequest(id: "\(action)-\(world.monotonic.microseconds)", action: action)
        if action == "replay" {
            let last = SimulatedData.firstDay.adding(days: SimulatedData.days)
            (request.from, request.through) = ("\(SimulatedData.firstDay)", "\(last)")
        }
        for second in 0..<3 {
            world.schedule(
                .action { [unowned self] in
                    world.send("control.\(host.name)", .object(request.body), from: "command")
                }, after: .seconds(second))
        }
    }

    private func copy(of host: SimulatedHost) -> String { folder.path + "/\(host.name).sqlite" }

    private func copyAll() throws {
        for host in world.hosts where FileManager.default.fileExists(atPath: host.path) {
            // Of one that can't be read now, or is damaged, an earlier copy stays.
            do {
                let store = try Database(path: host.path, mode: .readOnly)
                guard try store.damage() == nil else { continue }
                try store.copy(to: copy(of: host))
            } catch is SQLiteError { continue }
            olderCopies.insert(host.name)
        }
    }

    private func backUp() throws {
        try copyAll()
        hasBackup = olderCopies.count == world.hosts.count
    }

    private func restore() throws {
        guard hasBackup else { return try backUp() }
        endGhosts()
        world.note("restored")
        for host in world.hosts {
            host.crash()
            disk.heal(host.path)
            let draft = copy(of: host) + ".draft"
            try? FileManager.default.removeItem(atPath: draft)
            try Database(path: copy(of: host), mode: .readOnly).copy(to: draft)
            try RestoredStore.begin(at: draft, replacing: host.path)
            try host.wipe()
            try FileManager.default.moveItem(atPath: draft, toPath: host.path)
            world.schedule(.start(host), after: world.time(microseconds: 0...3_000_000))
        }
        flipped = []
        lost.formUnion(world.hosts.map(\.name))
    }

    /// Somebody copies an older folder back by hand.
    private func putBack(_ host: SimulatedHost) throws {
        guard olderCopies.contains(host.name) else { return try copyAll() }
        endGhosts()
        world.note("older copy")
        lost.insert(host.name)
        flipped.remove(host.name)
        try host.wipe()
        try FileManager.default.copyItem(atPath: copy(of: host), toPath: host.path)
        world.schedule(.start(host), after: world.time(microseconds: 50_000...3_000_000))
    }

    private func losePower() {
        world.note("power lost")
        endGhosts()
        for host in world.hosts {
            world.restart(host)
            let seed = random.next()
            if disk.losePower(host.path, seed: seed) { lost.insert(host.name) }
        }
    }

    /// One page of a file is no longer what it says it is.
    private func flip(_ host: SimulatedHost) throws {
        endGhosts()
        world.restart(host)
        guard let file = FileHandle(forUpdatingAtPath: host.path) else { return }
        defer { try? file.close() }
        let pages = try file.seekToEnd() / 4096
        guard pages > 1 else { return }
        world.note("flipped")
        flipped.insert(host.name)
        let place = UInt64.random(in: 1..<pages, using: &random) * 4096
        try file.seek(toOffset: place)
        let byte = try file.read(upToCount: 1)?.first ?? 0
        try file.seek(toOffset: place)
        try file.write(contentsOf: Data([byte ^ 0x40]))
    }

    // MARK: What is seen

    /// What a stage is doing, with what is wrong at the time.
    private func note(_ beat: Heartbeat) {
        var doing = beat.instance
        if let uploader = beat.uploader {
            doing += " \(uploader.blocked == nil ? "" : "blocked ")\(uploader.held > 0 ? "held " : "")"
        }
        if let repair = beat.stage.mending { doing += " \(repair.action) \(repair.state)" }
        let wrong = Set(active.map(\.family)).map(\.rawValue).sorted()
        for (index, one) in wrong.enumerated() {
            for other in wrong[index...] { states.insert("\(doing) \(one) \(other)") }
        }
    }

    // MARK: The end

    /// What was refused, and isn't deleted.
    private func letters() throws -> Set<FakeBackend.Key> {
        var letters: Set<FakeBackend.Key> = []
        for host in world.hosts where host.heartbeat?.uploader != nil {
            guard let reader = host.reader else { continue }
            try reader.prepare("SELECT user, id FROM dead_letters").forEachRow { row in
                let key = FakeBackend.Key(user: row.string(0), kind: "samples", id: row.string(1))
                let isExpected = host.name == "uploader" && !letters.contains(key)
                if !isExpected { problems.append("\(host.name) has a dead letter too many: \(key.id)") }
                if !stack.backend.isDeleted(key) { letters.insert(key) }
            }
        }
        return letters
    }

    /// Where each process's changelog and cursors are.
    private var positions: String {
        get throws {
            var lines = ""
            for host in world.hosts {
                lines += "\n\(host.name): " + (host.heartbeat?.head.map { "\($0)" } ?? "not running")
                guard let reader = host.reader else { continue }
                if host.heartbeat?.uploader != nil {
                    try reader.prepare("SELECT report FROM proofs").forEachRow {
                        lines += "\n    proof: \($0.string(0))"
                    }
                }
                try reader.prepare("SELECT name, value FROM cursors").forEachRow { row in
                    lines += "\n    \(row.string(0)): \(row.string(1))"
                }
            }
            return lines
        }
    }

    func compare(with calm: Outcome) throws {
        compare(delivered, with: calm.backend, at: "uploader", keepsWhatIsBeyond: true)
        if lost.isEmpty, !didDestinationFail, stack.backend.acceptedTwice > 0 {
            problems.append("\(stack.backend.acceptedTwice) elements were accepted as new twice")
        }
        if isTraced { print(try positions) }
        let (letters, expected) = (try letters(), calm.letters.filter { !stack.backend.isDeleted($0) })
        if letters != expected { problems.append("dead letters: \(letters), not \(expected)") }
        compare(
            try shown(), with: calm.other, at: other.plugin.name, keepsWhatIsBeyond: destination.keepsWhatIsBeyond)
    }

    /// - Parameter instance: the process that delivers there.
    private func compare(
        _ found: [String: Value], with expected: [String: Value], at instance: String, keepsWhatIsBeyond: Bool
    ) {
        var different: [String] = []
        for (name, content) in expected {
            guard let other = found[name] else {
                different.append("\(name) is missing")
                continue
            }
            let (here, there) = (other.object ?? ["": other], content.object ?? ["": content])
            // How often a day was revised depends on when its data arrived; and a sample that an export brought first,
            // since what the phone sent before was lost, is delivered without the phone's UUID.
            let ignored: Set =
                lost.contains(stack.observer.name) ? ["revision", "healthkitUUID", "healthkit_uuid"] : ["revision"]
            let names = Set(here.keys).union(there.keys).filter { !ignored.contains($0) && here[$0] != there[$0] }
            if !names.isEmpty {
                let shown = names.sorted().map {
                    "\($0) " + (here[$0]?.json() ?? "nothing") + " not " + (there[$0]?.json() ?? "nothing")
                }
                different.append("\(name): \(shown.joined(separator: ", "))")
            }
        }
        let beyond = found.keys.filter { expected[$0] == nil }
        // A sample was never sent, or was deleted, whatever was lost: phones delete again.
        let invented = keepsWhatIsBeyond && !lost.isEmpty ? beyond.filter { $0.hasPrefix("samples ") } : beyond
        different += invented.map { "\($0) was invented" }
        if !different.isEmpty {
            problems.append("\(different.count) differ at \(instance): \(different.sorted().prefix(2))")
        }
        guard keepsWhatIsBeyond else { return }
        // A store that was lost doesn't know what it has delivered. Since another stack may have, it is said, and stays.
        let proof = world.hosts.first { $0.name == instance }?.heartbeat?.uploader?.proof
        if !lost.isEmpty, Int64(beyond.count) != proof?.beyond ?? 0 {
            problems.append("\(beyond.count) elements at \(instance) are beyond, \(proof?.beyond ?? 0) are said to be")
        }
        if !beyond.isEmpty { counts["said to be beyond", default: 0] += 1 }
    }
}
