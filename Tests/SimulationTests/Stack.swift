import Configuration
import Foundation

/// The stack as shipped.
func shippedStack() throws -> StackConfiguration {
    let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    return try StackConfiguration(path: nil, catalog: try PluginCatalog(folder: root + "/plugins", programs: ""))
}
