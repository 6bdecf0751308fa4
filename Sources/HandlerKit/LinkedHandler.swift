import HealthModel

/// Handlers linked into this process. There is no list of them: the name of a plugin determines the name of its
/// handler.
package enum LinkedHandler {
    /// For the plugin `heart-rate`, the struct `HeartRateHandler` in the module `HeartRateStage`; nil if that isn't
    /// linked in.
    package static func named(_ plugin: String) -> (any PluginHandler)? {
        let name = plugin.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        // A struct's mangled name, by which the runtime finds any type: each part is preceded by its length.
        let mangled = [name + "Stage", name + "Handler"].map { "\($0.utf8.count)\($0)" }.joined() + "V"
        return (_typeByName(mangled) as? any PluginHandler.Type)?.init()
    }
}
