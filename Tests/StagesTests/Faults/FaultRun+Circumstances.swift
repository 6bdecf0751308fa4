import Configuration
import Doctor
import HandlerKit
import HealthModel
import Protocol
import Simulation
import StageKit

/// What holds during a whole run, besides its faults.
extension FaultPlan {
    /// Phones don't send again what the observer's store has lost.
    var phonesForget: Bool { chance >> 8 & 3 == 0 }
    /// The last days end while it runs.
    var daysEnd: Bool { chance >> 10 & 3 == 0 }
    /// The uploader doesn't hear the consolidator, except its answers, until all is delivered nevertheless.
    var isDeaf: Bool { chance >> 12 & 7 == 0 }
    /// In some scripts one handler can't compute one day.
    var isPoisoned: Bool { script % 5 == 3 }
}

extension FaultRun {
    /// Whether the observer's store has lost something that nobody sends again.
    var haveForgotten: Bool { plan.phonesForget && lost.contains(stack.observer.name) }

    func isDeaf(_ host: String, to other: String, _ topic: String) -> Bool {
        isDeaf && (other, host) == ("consolidator", "uploader") && !topic.hasPrefix("page.")
    }

    /// Every day of the data is over from the beginning, or some end later.
    func setClock() throws {
        func goOn() throws { world.wallOffset = try Self.end() - .microseconds(world.monotonic.microseconds) }
        try goOn()
        guard plan.daysEnd else { return }
        world.note("days end")
        hasClockJumped = true
        world.wallOffset += .seconds(-world.pick(12...72) * 3600)
        for part in 1...4 {
            world.schedule(
                .action { [unowned self] in if part < 4 { world.wallOffset += .seconds(6 * 3600) } else { try goOn() }
                },
                after: .microseconds(Int64(plan.length / 5 * Double(part) * 1e6)))
        }
    }

    /// Somebody who hears no hint asks.
    func waitForTheDeaf(_ days: [String: Value]) throws {
        guard isDeaf else { return }
        world.note("deaf")
        func areDelivered() -> Bool {
            let found = delivered
            return days.keys.allSatisfy { !$0.hasPrefix("days ") || found[$0] != nil }
        }
        try world.run(for: .seconds(600), isDone: areDelivered)
        if !areDelivered() { problems.append("without the consolidator's hints its days aren't delivered") }
        isDeaf = false
    }

    // MARK: The app

    func changePhone(_ state: Value) {
        command(["command": .string(ChangeDevice.name), "set": state], to: stack.observer)
    }

    /// The phone is in use, and stays so.
    func bringToFront() {
        command(
            .object(ChangeDevice(set: ["app": "active", "locked": false]).body), to: stack.observer, times: 8)
    }

    /// Only what one handler reads is released.
    func sync(_ handler: SimulatedHost) {
        guard let debouncer = world.hosts.first(where: { $0.plugin == "debouncer" }) else { return }
        let command = SyncNow(id: "sync-\(world.monotonic.microseconds)", metric: handler.name)
        self.command(.object(command.body), to: debouncer)
    }

    // MARK: Poison

    func poisonHandlers() {
        guard plan.isPoisoned else { return }
        world.note("poisoned")
        for host in world.hosts where host.name == PoisonedHandler.name {
            if let stage = poisoned(host.name) { host.makeStage = stage }
        }
    }

    func isPoison(_ finding: Finding) -> Bool {
        plan.isPoisoned && finding.subject == PoisonedHandler.name && finding.what.hasPrefix("couldn't compute")
    }

    /// A handler, which can't compute one of its days if it is poisoned.
    /// - Parameter version: its plugin's, if it isn't its own.
    func poisoned(_ name: String, version: Int? = nil) -> (() throws -> any Stage)? {
        guard plan.isPoisoned, name == PoisonedHandler.name,
            var instance = stack.configuration.instances.first(where: { $0.name == name }),
            let handler = LinkedHandler.named(instance.manifest.name)
        else { return version.flatMap { stack.handler(name, version: $0) } }
        instance.manifest.version = version ?? instance.manifest.version
        return { [instance, configuration = stack.configuration] in
            RepairStage(
                HandlerStage(PoisonedHandler(handler: handler), instance: instance, stack: configuration),
                instance: instance.name)
        }
    }
}

/// A handler that can't compute one of its days.
private struct PoisonedHandler: DayHandler {
    static let name = "heart-rate"
    static let day = SimulatedData.firstDay.adding(days: 2)
    struct Poison: Error {}

    let handler: any DayHandler

    var version: Int { handler.version }
    var detailedTypes: Set<String> { handler.detailedTypes }
    var payloadTypes: Set<String> { handler.payloadTypes }
    var during: [String: String] { handler.during }
    var characteristics: Set<String> { handler.characteristics }
    func condition(_ name: String, _ value: Value) throws -> Value { try handler.condition(name, value) }
    func conditionLimit(_ configuration: Value) -> Int { handler.conditionLimit(configuration) }
    func window(_ configuration: Value) throws -> HandlerWindow { try handler.window(configuration) }

    func compute(_ input: DayInput) throws -> DayOutput {
        guard input.day != Self.day else { throw Poison() }
        return try handler.compute(input)
    }
}
