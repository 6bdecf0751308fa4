import Configuration
import Foundation

/// What of the checkout the tests read: the manifests and configurations that are shipped.
enum Checkout {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    static func manifest(_ plugin: String, in folder: String = "plugins") throws -> Manifest {
        try Manifest(file: "\(root)/\(folder)/\(plugin)/plugin.json")
    }
}
