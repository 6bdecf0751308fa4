import BackgroundDelivery
import HealthModel

/// What an instance reports besides its position. Each kind of instance has its own type for this; what all stages have
/// in common is in `StageDetails`. Reading them as the wrong type gives nil.
///
/// The parts keep their types until they are sent: a stage compares them each turn, but seldom sends them.
package struct HeartbeatDetails: Sendable {
    /// One of the types in this folder.
    package typealias Part = Encodable & Equatable & Sendable

    private var parts: [any Part]

    /// - Parameter parts: if several parts have the same member, the first one's counts.
    package init(_ parts: any Part...) { self.parts = parts }

    package mutating func add(_ part: some Part) { parts.append(part) }

    private var members: [String: Value] {
        // Details received from the bus are a single part, whose members are read one after the other.
        if parts.count == 1, let reported = parts[0] as? Value { return reported.object ?? [:] }
        return parts.reduce(into: [:]) { members, part in
            members.merge(Value(part).object ?? [:]) { first, _ in first }
        }
    }

    package func read<Details: Decodable>(_ type: Details.Type = Details.self) -> Details? {
        Value.object(members).read(type)
    }
}

extension HeartbeatDetails: Equatable {
    package static func == (one: HeartbeatDetails, other: HeartbeatDetails) -> Bool {
        guard one.parts.count == other.parts.count else { return one.members == other.members }
        for (mine, theirs) in zip(one.parts, other.parts) {
            // Details received from the bus have no types yet, so only their members can be compared.
            guard let isSame = areSame(mine, theirs) else { return one.members == other.members }
            guard isSame else { return false }
        }
        return true
    }

    /// Whether two parts are equal; nil if their types differ.
    private static func areSame<One: Part>(_ one: One, _ other: any Part) -> Bool? {
        (other as? One).map { one == $0 }
    }
}

extension HeartbeatDetails: Codable {
    package init(from decoder: any Decoder) throws {
        let members = try decoder.singleValueContainer().decode(Value.self)
        guard members.object != nil else {
            throw DecodingError.typeMismatch(
                [String: Value].self, .init(codingPath: decoder.codingPath, debugDescription: "has another type"))
        }
        parts = [members]
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Value.object(members))
    }
}

extension Heartbeat {
    package var stage: StageDetails { details.read() ?? StageDetails() }
    package var observer: ObserverDetails? { details.read() }
    package var debouncer: DebouncerDetails? { details.read() }
    package var handler: HandlerDetails? { details.read() }
    package var consolidator: ConsolidatorDetails? { details.read() }
    package var uploader: UploaderDetails? { details.read() }
    /// The part of `uploader` that the debouncer needs from every heartbeat; the rest isn't decoded.
    package var uploaderStanding: UploaderStanding? { details.read() }
    package var notifier: NotifierDetails? { details.read() }
    package var supervisor: SupervisorDetails? { details.read() }
    package var hub: HubDetails? { details.read() }
    package var ingest: IngestDetails? { details.read() }
    package var dashboard: DashboardDetails? { details.read() }
    /// When the instance last checked whether there is anything new.
    package var lastChecked: Instant? { details.read(CheckDetails.self)?.lastChecked }

    /// How many sequences of an upstream the instance lacks; nil if it doesn't consume that upstream. Changes that it
    /// consumes once more aren't lacking, nor are those of days that it has yet to compute, whereas its frontier lies
    /// before both.
    package func lacks(of upstream: String, at head: StoreHead) -> Int64? {
        frontier[upstream].map { head.distance(from: max($0, stage.reached[upstream] ?? $0)) }
    }
}

/// What has passed through the process's connection to the bus.
package struct BusCounts: Codable, Sendable, Equatable {
    package var sent: Int
    package var received: Int
    package var dropped: Int
    package var malformed: Int
    /// Messages ignored because the sender had no right to send them.
    package var foreign: Int?

    package init(sent: Int, received: Int, dropped: Int, malformed: Int, foreign: Int) {
        (self.sent, self.received, self.dropped, self.malformed) = (sent, received, dropped, malformed)
        self.foreign = foreign
    }
}

/// What all stages have in common.
package struct StageDetails: Codable, Sendable, Equatable {
    /// The work still to do, in the stage's own unit: types, days, notifications.
    package var pending: Int?
    package var messages: BusCounts?
    /// Why others refuse its requests, by `producer/query`.
    @IfAny package var refusals: [String: String] = [:]
    package var mending: Repair?
    package var tasks: [ScheduledTask]?
    /// Why nothing goes out although something should.
    package var blocked: String?
    /// How far it has consumed the observer, if that differs between types.
    package var consumed: AnchorVector?
    /// Up to where it has consumed its upstreams' changes, if the frontier lies before that because days are still to
    /// be computed or changes are consumed once more.
    @IfAny package var reached: [String: SequenceNumber] = [:]
    package var replay: ReplayProgress?

    package init() {}
}

/// The last request from a person that was accepted, and its outcome.
package struct Repair: Codable, Sendable, Equatable {
    package enum State: String, Codable, Sendable { case underWay, done, refused }

    package var id: String
    package var action: String
    package var state: State
    /// While under way: how much is left, in the action's own unit.
    package var left: Int64?
    /// When done: the action's own results in numbers.
    package var result: Value?
    /// When refused: why, and what to do instead.
    package var problem: String?

    package init(
        id: String, action: String, state: State, left: Int64? = nil, result: Value? = nil, problem: String? = nil
    ) {
        (self.id, self.action, self.state, self.left, self.result) = (id, action, state, left, result)
        self.problem = problem
    }
}

/// The last announced chunk of a historical sync, and how much of it is left.
package struct ReplayProgress: Codable, Sendable, Equatable {
    package var id: String
    package var left: Int64

    package init(id: String, left: Int64) { (self.id, self.left) = (id, left) }
}
