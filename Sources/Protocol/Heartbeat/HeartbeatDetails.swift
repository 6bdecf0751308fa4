import BackgroundDelivery
import HealthModel

/// What an instance says beside where it stands. Each kind of instance has a type of its own for that; what any of them has in common is
/// in `StageDetails`. What is read as a type that it isn't is nil.
public struct HeartbeatDetails: Sendable, Equatable {
    private var members: [String: Value]

    /// - Parameter parts: each a type of this folder. Of a member that several say, the first one's holds.
    public init(_ parts: any Encodable...) {
        members = parts.reduce(into: [:]) { members, part in
            members.merge(Value(part).object ?? [:]) { first, _ in first }
        }
    }

    public mutating func add(_ part: some Encodable) {
        members.merge(Value(part).object ?? [:]) { first, _ in first }
    }

    public func read<Part: Decodable>(_ part: Part.Type = Part.self) -> Part? { Value.object(members).read(part) }
}

extension HeartbeatDetails: Codable {
    public init(from decoder: any Decoder) throws {
        members = try decoder.singleValueContainer().decode([String: Value].self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Value.object(members))
    }
}

extension Heartbeat {
    public var stage: StageDetails { details.read() ?? StageDetails() }
    public var observer: ObserverDetails? { details.read() }
    public var debouncer: DebouncerDetails? { details.read() }
    public var handler: HandlerDetails? { details.read() }
    public var consolidator: ConsolidatorDetails? { details.read() }
    public var uploader: UploaderDetails? { details.read() }
    public var notifier: NotifierDetails? { details.read() }
    public var supervisor: SupervisorDetails? { details.read() }
    public var hub: HubDetails? { details.read() }
    /// When somebody last looked whether there is anything new.
    public var lastChecked: Instant? { details.read(CheckDetails.self)?.lastChecked }
}

/// What passed the process's place on the bus.
public struct BusCounts: Codable, Sendable, Equatable {
    public var sent: Int
    public var received: Int
    public var dropped: Int
    public var malformed: Int
    /// Not believed: their sender isn't the one who may say it.
    public var foreign: Int?

    public init(sent: Int, received: Int, dropped: Int, malformed: Int, foreign: Int) {
        self.sent = sent
        self.received = received
        self.dropped = dropped
        self.malformed = malformed
        self.foreign = foreign
    }
}

/// What stages have in common.
public struct StageDetails: Codable, Sendable, Equatable {
    /// What is still to do, in the stage's own measure: types, days, notifications.
    public var pending: Int?
    public var messages: BusCounts?
    /// Why others don't answer what it asks, by `producer/query`.
    @IfAny public var refusals: [String: String] = [:]
    public var mending: Mending?
    public var tasks: [ScheduledTask]?
    /// Why nothing goes out, where something is to go out.
    public var blocked: String?
    /// How far it has consumed the observer, where types differ.
    public var consumed: AnchorVector?
    public var replay: ReplayProgress?

    public init() {}
}

/// The request of a person that was taken last, and what has become of it.
public struct Mending: Codable, Sendable, Equatable {
    public enum State: String, Codable, Sendable { case underWay, done, refused }

    public var id: String
    public var action: String
    public var state: State
    /// Under way: how much is to come, in the action's own measure.
    public var left: Int64?
    /// Done: the action's own numbers.
    public var result: Value?
    /// Refused: why, and what to do instead.
    public var problem: String?

    public init(
        id: String, action: String, state: State, left: Int64? = nil, result: Value? = nil, problem: String? = nil
    ) {
        self.id = id
        self.action = action
        self.state = state
        self.left = left
        self.result = result
        self.problem = problem
    }
}

/// The last chunk of a historical sync that was told, and how much of it is left.
public struct ReplayProgress: Codable, Sendable, Equatable {
    public var id: String
    public var left: Int64

    public init(id: String, left: Int64) {
        self.id = id
        self.left = left
    }
}
