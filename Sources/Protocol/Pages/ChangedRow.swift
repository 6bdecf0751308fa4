import HealthModel

/// A row of a keyed changelog: a day's figures, an event, a summary, a round, an alert, a condition; or its tombstone.
package struct ChangedRow: Sendable, Equatable {
    package var sequence: SequenceNumber
    package var key: String
    /// What it is: "figures.steps", "events.workouts", "daily.summary".
    package var topic: String
    package var user: String
    /// The day it belongs to, in days since 1970; nil for a row that belongs to none.
    package var day: Int?
    /// nil for a tombstone.
    package var body: Value?

    package init(sequence: SequenceNumber, key: String, topic: String, user: String, day: Int?, body: Value?) {
        (self.sequence, self.key, self.topic, self.user, self.day, self.body) = (sequence, key, topic, user, day, body)
    }
}

extension ChangedRow: Codable {
    private enum CodingKeys: String, CodingKey {
        case key, topic, user, day, deleted, body
        case sequence = "seq"
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        // Decoded as an integer, here and below: decoding a `SequenceNumber` costs an extra container, and pages have
        // many rows.
        sequence = SequenceNumber(try members.decode(Int64.self, forKey: .sequence))
        key = try members.decode(String.self, forKey: .key)
        topic = try members.decode(String.self, forKey: .topic)
        user = try members.decode(String.self, forKey: .user)
        day = try? members.decode(Int.self, forKey: .day)
        if try members.decode(Bool.self, forKey: .deleted) { return }
        body = members.contains(.body) ? try members.decode(Value.self, forKey: .body) : .null
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(sequence.value, forKey: .sequence)
        try members.encode(key, forKey: .key)
        try members.encode(topic, forKey: .topic)
        try members.encode(user, forKey: .user)
        try members.encode(day, forKey: .day)
        try members.encode(body == nil, forKey: .deleted)
        try members.encode(body, forKey: .body)
    }
}

/// How far a page of a window reaches, and in which store: all it takes to move an anchor.
package struct CoveredPage: PageContent, Equatable {
    @IfReadable package var head: StoreHead?
    package var through: SequenceNumber
}

/// The body of a row under `figures.<instance>`: a day's figures, and those of its hours. Names and values are up to the
/// handler.
package struct FiguresBody: Codable, Sendable, Equatable {
    package var figures: Value
    package var hourly: Value?

    package init(figures: [String: Value] = [:], hourly: [String: Value] = [:]) {
        self.figures = .object(figures)
        self.hourly = .object(hourly)
    }
}

/// The body of a row under `events.<instance>`.
package struct EventBody: Codable, Sendable, Equatable {
    package var id: String
    /// "workout", "night", or a handler's own kind.
    package var kind: String
    package var event: Value

    package init(id: String, kind: String, event: Value) { (self.id, self.kind, self.event) = (id, kind, event) }
}

/// The body of a row under `conditions.<instance>`: a condition that a person has asked a handler to watch.
package struct ConditionBody: Codable, Sendable, Equatable {
    package static let topicPrefix = "conditions."

    /// The name given by the person.
    package var name: String
    package var condition: Value

    package init(name: String, condition: Value) { (self.name, self.condition) = (name, condition) }
}

/// What every daily summary contains besides its figures, in the body of a row under `daily.summary`.
package struct SummaryState: Codable, Sendable, Equatable {
    @IfReadable package var user: String?
    @IfReadable package var date: String?
    @IfReadable package var final: Bool?
    /// 0 until it first becomes final; rises by one each time it becomes final with different content.
    @IfReadable package var revision: Int64?
    /// The instances that it is waiting for.
    @IfReadable package var missing: [String]?
}

/// The lists in which a backend stores the rows of keyed changelogs.
package enum DocumentList: String, Sendable { case days, nights, workouts }

extension ChangedRow {
    /// Which lists it belongs to at a backend. A tombstone no longer shows which kind of event it was, so it goes to
    /// every list of events unless its topic shows the kind. Events of a handler's own kind stay in the stack, since a
    /// backend has no place for them.
    package var lists: [DocumentList] {
        if topic == "daily.summary" { return [.days] }
        guard let body else { return Self.deleting(on: topic) }
        return Self.list(of: body.read(EventBody.self)?.kind).map { [$0] } ?? []
    }

    private static func list(of kind: String?) -> DocumentList? {
        switch kind {
        case "night": .nights
        case "workout": .workouts
        default: nil
        }
    }

    private static func deleting(on topic: String) -> [DocumentList] {
        switch topic {
        case "events.sleep": [.nights]
        case "events.workouts": [.workouts]
        case "events.places": []
        default: [.nights, .workouts]
        }
    }

    /// The topic of an event's row. It is the instance's, whichever plugin runs there, unless a tombstone with that
    /// topic wouldn't reach the event's list: an instance named `sleep` may run a plugin with workouts.
    package static func topic(ofEvent kind: String, instance: String) -> String {
        let topic = "events.\(instance)"
        guard let list = list(of: kind), !deleting(on: topic).contains(list) else { return topic }
        return "\(topic).\(kind)"
    }
}
