import HealthModel
import Protocol

/// What a person asks of a stage by hand: to compute again, to try again, to forget, to copy itself.
///
/// On the bus `{"command": "mend", "id", "action", …}` on `control.<instance>`. Given again, it changes nothing: what has been done for an id is done.
package struct MendRequest: Sendable, Equatable {
    package var id: String
    /// "replay", "retry", "drop", "reset", "backup".
    package var action: String
    /// The whole of it, with the action's own members.
    package var members: Value

    package static let command = "mend"

    /// nil when the value isn't a request.
    package init?(_ members: Value) {
        guard members["command"].string == Self.command, let id = members["id"].string, !id.isEmpty,
            let action = members["action"].string
        else { return nil }
        self.id = id
        self.action = action
        self.members = members
    }

    package init(id: String, action: String, _ members: [String: Value] = [:]) {
        self.id = id
        self.action = action
        let own: [String: Value] = [
            "command": .string(Self.command), "id": .string(id), "action": .string(action),
        ]
        self.members = .object(members.merging(own) { $1 })
    }
}

/// What has become of a request.
package enum Mended: Sendable, Equatable {
    /// Numbers for whoever asked.
    case done(Value)
    /// - left: how much is still to come, in the action's own measure.
    /// - goesOn: whether the next step needs nothing but another turn.
    case underWay(left: Int64, goesOn: Bool = false)
    /// Nothing was changed; why, and what to do instead.
    case refused(String)

    var isOver: Bool { if case .underWay = self { false } else { true } }
}

extension Mending {
    init(_ request: MendRequest, _ state: Mended) {
        switch state {
        case .done(let result): self.init(id: request.id, action: request.action, state: .done, result: result)
        case .underWay(let left, _): self.init(id: request.id, action: request.action, state: .underWay, left: left)
        case .refused(let why): self.init(id: request.id, action: request.action, state: .refused, problem: why)
        }
    }
}

extension Mended {
    /// As a heartbeat, or the stage's own file, tells it.
    package init(_ told: Mending) {
        switch told.state {
        case .done: self = .done(told.result ?? .null)
        case .underWay: self = .underWay(left: told.left ?? 0)
        case .refused: self = .refused(told.problem ?? "")
        }
    }
}

/// Entries of a list that a request is about.
package struct MendSelection: Sendable, Equatable {
    /// By their numbers; nil: all that the rest allows.
    package var numbers: [Int64]?
    package var reason: String?
    package var type: String?

    package init(numbers: [Int64]? = nil, reason: String? = nil, type: String? = nil) {
        (self.numbers, self.reason, self.type) = (numbers, reason, type)
    }

    package init(_ members: Value) {
        numbers = members["numbers"].array?.compactMap(\.int)
        reason = members["reason"].string
        type = members["type"].string
    }

    package var members: [String: Value] {
        var members: [String: Value] = [:]
        if let numbers { members["numbers"] = .array(numbers.map { .integer($0) }) }
        if let reason { members["reason"] = .string(reason) }
        if let type { members["type"] = .string(type) }
        return members
    }
}

extension MendSelection {
    /// Whether an entry is among them: of these numbers, with a reason that has this text in it, of this type, whose prefix may be left out.
    package func takes(number: Int64, reason: String, type: String) -> Bool {
        if let numbers, !numbers.contains(number) { return false }
        if let wanted = self.reason, !reason.lowercased().contains(wanted.lowercased()) { return false }
        if let wanted = self.type, type != wanted, !type.hasSuffix("Identifier" + wanted) { return false }
        return true
    }
}
