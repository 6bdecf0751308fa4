import Changelog
import DeliveryKit
import Foundation
import HealthModel
import Protocol
import SQLite
import Simulation
import StageKit
import TestSupport

/// What goes wrong, and what is done to the stack.
extension FaultRun {
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
        case .app(let state): changePhone(["app": .string(state)])
        case .lock: changePhone(["locked": true])
        case .sync(let number): sync(host(number))
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
        case .app: changePhone(["app": "active"])
        case .lock: changePhone(["locked": false])
        default: break
        }
    }

    /// The same plugin in another version takes a handler's place.
    private func swap(_ host: SimulatedHost) {
        swaps += 1
        guard let other = poisoned(host.name, version: swaps) else { return }
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
        command(.object(request.body), to: host)
    }

    /// Sends it again and again for some seconds.
    func command(_ body: Value, to host: SimulatedHost, times: Int = 3) {
        for second in 0..<times {
            world.schedule(
                .action { [unowned self] in world.send("control.\(host.name)", body, from: "command") },
                after: .seconds(second))
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
}
