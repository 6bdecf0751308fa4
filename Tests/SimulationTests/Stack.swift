import Configuration
import Foundation

/// The stack as shipped, or with one of the shipped profiles.
func shippedStack(_ profile: String? = nil) throws -> StackConfiguration {
    let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    return try StackConfiguration(
        path: profile.map { "\(root)/configs/\($0).json" },
        catalog: try PluginCatalog(folder: root + "/plugins", programs: ""))
}
