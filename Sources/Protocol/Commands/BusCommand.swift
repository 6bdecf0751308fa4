import HealthModel

/// A command sent on `control.<instance>`: each command is a type with its own name, and repeating one changes nothing.
package protocol BusCommand: Codable, Sendable {
    static var name: String { get }
}

extension BusCommand {
    package static func topic(_ instance: String) -> String { "control.\(instance)" }

    /// The command as a message's body.
    package var body: [String: Value] {
        var members = Value(self).object ?? [:]
        members[CommandName.key] = .string(Self.name)
        return members
    }

    /// nil when the body is a different command or invalid.
    package init?(_ body: Value) {
        guard CommandName.of(body) == Self.name, let command = body.read(Self.self) else { return nil }
        self = command
    }
}

/// Which command a body contains.
package enum CommandName {
    static let key = "command"

    package static func of(_ body: Value) -> String? { body[key].string }
}

/// A consumer asks the observer to wake it; repeated until the observer's heartbeat shows this launch.
package struct Register: BusCommand {
    package static let name = "register"

    package var consumer: String
    /// The number of this launch.
    package var launch: Int64
    /// The highest frequency for each type, or under "*" for all other types.
    package var types: [String: String]

    package init(consumer: String, launch: Int64, types: [String: String]) {
        (self.consumer, self.launch, self.types) = (consumer, launch, types)
    }
}

/// Which members of the phone's state to change.
package struct ChangeDevice: BusCommand {
    package static let name = "device"

    /// The new values, keyed by their names in `DeviceState`.
    package var set: Value

    package init(set: Value) { self.set = set }
}

/// Asks the debouncer to release everything now.
package struct SyncNow: BusCommand {
    package static let name = "sync"

    package var id: String
    /// A handler's instance; nil for all handlers.
    package var metric: String?
    /// A number of days, or "all", for a historical sync.
    package var history: Value?
    /// For a historical sync that can't begin at once: "queue" (nil) or "fail".
    package var strategy: String?
    /// The observer's head; the debouncer waits until that head has been announced to it.
    package var head: SequenceNumber?

    package init(
        id: String, metric: String? = nil, history: Value? = nil, strategy: String? = nil, head: SequenceNumber? = nil
    ) {
        (self.strategy, self.id, self.metric, self.history, self.head) = (strategy, id, metric, history, head)
    }
}

/// Wakes the app by a silent push: the debouncer syncs, if it may.
package struct WakeApp: BusCommand {
    package static let name = "wake"

    package var id: String
    /// Whose allowance it counts against: a token's id, or a destination's instance.
    package var sender: String

    package init(id: String, sender: String) { (self.id, self.sender) = (id, sender) }
}

/// Asks an uploader to compare what the backend has with what was delivered.
package struct CompareBackend: BusCommand {
    package static let name = "check"

    package var id: String
    /// Whether to try delivering waiting elements at once.
    package var send: Bool?

    package init(id: String, send: Bool? = nil) { (self.id, self.send) = (id, send) }
}
