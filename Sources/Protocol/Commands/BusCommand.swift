import HealthModel

/// What is said on `control.<instance>`: each command is a type with its name, and giving one again changes nothing.
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

    /// nil when the body is another command, or isn't what it should be.
    package init?(_ body: Value) {
        guard CommandName.of(body) == Self.name, let command = body.read(Self.self) else { return nil }
        self = command
    }
}

/// Which command a body is.
package enum CommandName {
    static let key = "command"

    package static func of(_ body: Value) -> String? { body[key].string }
}

/// A consumer asks the observer to be woken; said again until the observer's heartbeat shows this launch.
package struct Register: BusCommand {
    package static let name = "register"

    package var consumer: String
    /// The number of this start.
    package var launch: Int64
    /// How often at most, by type, or "*" for all others.
    package var types: [String: String]

    package init(consumer: String, launch: Int64, types: [String: String]) {
        self.consumer = consumer
        self.launch = launch
        self.types = types
    }
}

/// Members of the phone's state that are to change.
package struct ChangeDevice: BusCommand {
    package static let name = "device"

    /// As `DeviceState` names them.
    package var set: Value

    package init(set: Value) { self.set = set }
}

/// To the debouncer: release everything now.
package struct SyncNow: BusCommand {
    package static let name = "sync"

    package var id: String
    /// A handler's instance; nil: all.
    package var metric: String?
    /// A number of days, or "all": a historical sync.
    package var history: Value?
    /// The observer's head that the debouncer is to have heard of first.
    package var head: SequenceNumber?

    package init(id: String, metric: String? = nil, history: Value? = nil, head: SequenceNumber? = nil) {
        self.id = id
        self.metric = metric
        self.history = history
        self.head = head
    }
}

/// To an uploader: compare what the backend holds with what it took.
package struct CompareBackend: BusCommand {
    package static let name = "check"

    package var id: String
    /// Whether what waits is tried at once.
    package var send: Bool?

    package init(id: String, send: Bool? = nil) {
        self.id = id
        self.send = send
    }
}
