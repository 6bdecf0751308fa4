import HealthModel
import PluginKit

/// How a swap stands, as the supervisor's heartbeat tells it.
public struct SwapProgress: Sendable, Equatable {
    public enum Step: String, Sendable {
        /// The new one is started and tried, beside the old one.
        case trying
        /// The old one drains; the new one takes its place.
        case switching
        case done
        /// Nothing has changed.
        case refused
        /// The new one wasn't ready; the old one runs again.
        case failed

        public var isOver: Bool { self != .trying && self != .switching }
    }

    public var id: String
    public var instance: String
    /// Plugins by name, or by their folders.
    public var from: String
    public var to: String
    public var step: Step
    public var isTrial: Bool
    /// Of a handler, once it was tried.
    public var trial: TrialReport?
    /// How long neither of them ran, microseconds.
    public var without: Instant?
    public var problem: String?
    public var hint: String?

    init(_ wish: SwapWish) {
        id = wish.id
        instance = wish.instance
        from = ""
        to = wish.plugin ?? ""
        step = .trying
        isTrial = wish.isTrial
    }

    public var wireValue: Value {
        var value: [String: Value] = [
            "id": .string(id), "instance": .string(instance), "from": .string(from), "to": .string(to),
            "step": .string(step.rawValue), "dryRun": .bool(isTrial),
        ]
        value["trial"] = trial?.wireValue
        value["without"] = without.map { .integer($0) }
        value["problem"] = problem.map { .string($0) }
        value["hint"] = hint.map { .string($0) }
        return .object(value)
    }

    init?(wireValue value: Value) {
        guard let id = value["id"].string, let instance = value["instance"].string,
            let step = value["step"].string.flatMap({ Step(rawValue: $0) })
        else { return nil }
        self.id = id
        self.instance = instance
        from = value["from"].string ?? ""
        to = value["to"].string ?? ""
        self.step = step
        isTrial = value["dryRun"].bool == true
        trial = TrialReport(wireValue: value["trial"])
        without = value["without"].int
        problem = value["problem"].string
        hint = value["hint"].string
    }
}
