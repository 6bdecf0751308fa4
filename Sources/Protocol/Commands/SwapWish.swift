import HealthModel

/// What `control.supervisor` asks for: that a different plugin take an instance's place.
package struct SwapWish: BusCommand, Equatable {
    package static let name = "swap"

    /// The id of the request; each id is carried out once.
    package var id: String
    package var instance: String
    /// A plugin's name, or the absolute path of its folder; nil to return to what is configured, undoing earlier swaps.
    package var plugin: String?
    /// Whether the plugin is only put on standby and tried out.
    package var isTrial: Bool
    /// Whether to swap even if days fail.
    package var isForced: Bool
    /// How many seconds the plugin may take to stand by; it then gets as many again to become ready.
    package var within: Double

    package init(
        id: String, instance: String, plugin: String?, isTrial: Bool = false, isForced: Bool = false,
        within: Double = Self.usualSeconds
    ) {
        (self.id, self.instance, self.plugin, self.isTrial, self.isForced) = (id, instance, plugin, isTrial, isForced)
        self.within = within
    }

    package static let usualSeconds = 30.0

    private enum CodingKeys: String, CodingKey {
        case id, instance, plugin, within
        case isTrial = "dryRun"
        case isForced = "force"
    }

    /// Missing members get their defaults.
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
