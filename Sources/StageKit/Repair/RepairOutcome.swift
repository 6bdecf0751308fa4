import HealthModel
import Protocol

/// The outcome of a request.
package enum RepairOutcome: Sendable, Equatable {
    /// Numbers for the caller.
    case done(Value)
    /// - left: how much is still to be done, in the unit that the action uses.
    /// - goesOn: whether the next step only needs another turn, and nothing else.
    case underWay(left: Int64, goesOn: Bool = false)
    /// Nothing was changed; explains why, and what to do instead.
    case refused(String)

    var isOver: Bool { if case .underWay = self { false } else { true } }
}

extension Repair {
    init(_ request: RepairRequest, _ state: RepairOutcome) {
        switch state {
        case .done(let result): self.init(id: request.id, action: request.action, state: .done, result: result)
        case .underWay(let left, _): self.init(id: request.id, action: request.action, state: .underWay, left: left)
        case .refused(let why): self.init(id: request.id, action: request.action, state: .refused, problem: why)
        }
    }
}

extension RepairOutcome {
    /// The outcome as given in a heartbeat or in the stage's own file.
    package init(_ reported: Repair) {
        switch reported.state {
        case .done: self = .done(reported.result ?? .null)
        case .underWay: self = .underWay(left: reported.left ?? 0)
        case .refused: self = .refused(reported.problem ?? "")
        }
    }
}
