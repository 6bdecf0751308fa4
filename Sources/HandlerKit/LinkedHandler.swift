import HealthModel

/// Handlers that are linked into this process. No list of them is kept: a plugin's name tells its handler's.
package enum LinkedHandler {
    /// Of the plugin `heart-rate` the structure `HeartRateHandler` in the module `HeartRateStage`; nil where that isn't linked in.
    package static func named(_ plugin: String) -> (any PluginHandler)? {
        let name = plugin.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        // As the compiler writes a structure's name, by which the runtime finds any type: each part after its length.
        let mangled = [name + "Stage", name + "Handler"].map { "\($0.utf8.count)\($0)" }.joined() + "V"
        return (_typeByName(mangled) as? any PluginHandler.Type)?.init()
    }
}
