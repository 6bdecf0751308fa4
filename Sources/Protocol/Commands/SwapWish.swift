import HealthModel

/// What `control.supervisor` asks for: another plugin in an instance's place.
package struct SwapWish: BusCommand, Equatable {
    package static let name = "swap"

    /// The wish's own; what is done for an id is done once.
    package var id: String
    package var instance: String
    /// A plugin's name, or its folder's absolute path; nil: what is configured, without what it was swapped for.
    package var plugin: String?
    /// Only stand by and be tried.
    package var isTrial: Bool
    /// Swap though days fail.
    package var isForced: Bool
    /// Seconds to stand by, and once more to be ready.
    package var within: Double

    package init(
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

    package static let usualSeconds = 30.0

    private enum CodingKeys: String, CodingKey {
        case id, instance, plugin, within
        case isTrial = "dryRun"
        case isForced = "force"
    }

    /// What isn't said is as usual.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(String.self, forKey: .id)
        instance = try members.decode(String.self, forKey: .instance)
        plugin = try members.decodeIfPresent(String.self, forKey: .plugin)
        isTrial = try members.decodeIfPresent(Bool.self, forKey: .isTrial) ?? false
        isForced = try members.decodeIfPresent(Bool.self, forKey: .isForced) ?? false
        let seconds = try members.decodeIfPresent(Double.self, forKey: .within) ?? Self.usualSeconds
        within = min(max(seconds, 0.1), 3600)
    }
}
