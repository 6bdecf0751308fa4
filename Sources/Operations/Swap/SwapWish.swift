import HealthModel

/// What `control.supervisor` asks for: another plugin in an instance's place.
public struct SwapWish: Sendable, Equatable {
    /// The wish's own; what is done for an id is done once.
    public var id: String
    public var instance: String
    /// A plugin's name, or its folder's absolute path; nil: what is configured, without what it was swapped for.
    public var plugin: String?
    /// Only stand by and be tried.
    public var isTrial: Bool
    /// Swap though days fail.
    public var isForced: Bool
    /// Seconds to stand by, and once more to be ready.
    public var within: Double

    public init(
        id: String, instance: String, plugin: String?, isTrial: Bool = false, isForced: Bool = false,
        within: Double = Self.usualSeconds
    ) {
        self.id = id
        self.instance = instance
        self.plugin = plugin
        self.isTrial = isTrial
        self.isForced = isForced
        self.within = within
    }

    public static let usualSeconds = 30.0

    var command: [String: Value] {
        var body: [String: Value] = ["command": "swap", "id": .string(id), "instance": .string(instance)]
        body["plugin"] = plugin.map { .string($0) }
        if isTrial { body["dryRun"] = true }
        if isForced { body["force"] = true }
        if within != Self.usualSeconds { body["within"] = Value(within) }
        return body
    }

    /// nil for another command.
    init?(_ body: Value) {
        guard body["command"].string == "swap", let id = body["id"].string, let instance = body["instance"].string
        else { return nil }
        self.init(
            id: id, instance: instance, plugin: body["plugin"].string, isTrial: body["dryRun"].bool == true,
            isForced: body["force"].bool == true,
            within: min(max(body["within"].double ?? Self.usualSeconds, 0.1), 3600))
    }
}
