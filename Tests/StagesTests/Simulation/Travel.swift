import HealthModel
import SQLite
import Simulation

/// Makes a simulated stack's observer end up with exactly the zones in the data, repeating commands as often as needed.
final class Travel {
    private let data: SimulatedData
    private unowned let stack: SimulatedStack

    init(_ data: SimulatedData, in stack: SimulatedStack) {
        self.data = data
        self.stack = stack
    }

    /// Sends one command, which says either that a zone begins at this moment or that none does.
    func say(_ zone: String?, from moment: Instant) {
        var command: [String: Value] = ["command": "zone", "user": "me", "from": .integer(moment.microseconds)]
        command["action"] = zone == nil ? "remove" : "add"
        if let zone { command["zone"] = .string(zone) }
        stack.world.send("control.observer", .object(command), from: "command")
    }

    func begin(after delay: Duration) {
        stack.world.schedule(
            .action { [self] in
                guard try !hasEnded() else { return }
                for moment in data.moments { say(data.travels.first { $0.from == moment }?.zone, from: moment) }
                begin(after: .seconds(1))
            }, after: delay)
    }

    func hasEnded() throws -> Bool {
        guard let reader = stack.observer.reader else { return false }
        var added: [ZoneTimeline.Entry] = []
        try reader.prepare("SELECT moment, zone FROM zone_settings WHERE user = 'me' AND moment > 0 ORDER BY moment")
            .forEachRow { added.append(.init(from: Instant(microseconds: $0.int64(0)), zone: $0.string(1))) }
        return added == data.travels
    }
}
