import Configuration
import Foundation

/// The parts of the checkout that tests read: the shipped manifests and configurations.
enum Checkout {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    static func manifest(_ plugin: String, in folder: String = "plugins") throws -> Manifest {
        try Manifest(file: "\(root)/\(folder)/\(plugin)/plugin.json")
    }
}
