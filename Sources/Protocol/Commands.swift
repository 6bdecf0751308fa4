import HealthModel

/// What is said on `control.<instance>`: each command is a type with its name, and giving one again changes nothing.
public protocol BusCommand: Codable, Sendable {
    static var name: String { get }
}

extension BusCommand {
    public static func topic(_ instance: String) -> String { "control.\(instance)" }

    /// The command as a message's body.
    public var body: [String: Value] {
        var members = Value(self).object ?? [:]
        members[CommandName.key] = .string(Self.name)
        return members
    }

    /// nil when the body is another command, or isn't what it should be.
    public init?(_ body: Value) {
        guard CommandName.of(body) == Self.name, let command = body.read(Self.self) else { return nil }
        self = command
    }
}

/// Which command a body is.
public enum CommandName {
    static let key = "command"

    public static func of(_ body: Value) -> String? { body[key].string }
}

/// A consumer asks the observer to be woken; said again until the observer's heartbeat shows this launch.
public struct Register: BusCommand {
    public static let name = "register"

    public var consumer: String
    /// The number of this start.
    public var launch: Int64
    /// How often at most, by type, or "*" for all others.
    public var types: [String: String]

    public init(consumer: String, launch: Int64, types: [String: String]) {
        self.consumer = consumer
        self.launch = launch
        self.types = types
    }
}

/// Members of the phone's state that are to change.
public struct ChangeDevice: BusCommand {
    public static let name = "device"

    /// As `DeviceState` names them.
    public var set: Value

    public init(set: Value) { self.set = set }
}

/// To the debouncer: release everything now.
public struct SyncNow: BusCommand {
    public static let name = "sync"

    public var id: String
    /// A handler's instance; nil: all.
    public var metric: String?
    /// A number of days, or "all": a historical sync.
    public var history: Value?
    /// The observer's head that the debouncer is to have heard of first.
    public var head: Int64?

    public init(id: String, metric: String? = nil, history: Value? = nil, head: Int64? = nil) {
        self.id = id
        self.metric = metric
        self.history = history
        self.head = head
    }
}

/// To an uploader: compare what the backend holds with what it took.
public struct CompareBackend: BusCommand {
    public static let name = "check"

    public var id: String
    /// Whether what waits is tried at once.
    public var send: Bool?

    public init(id: String, send: Bool? = nil) {
        self.id = id
        self.send = send
    }
}
