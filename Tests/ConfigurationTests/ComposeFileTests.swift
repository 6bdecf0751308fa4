import Client
import Configuration
import Foundation
import StageKit
import Testing

/// docker-compose.yml matches the default stack.
@Suite struct ComposeFileTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    @Test func everyInstanceHasItsService() throws {
        let text = try String(contentsOfFile: Self.root + "/docker-compose.yml", encoding: .utf8)
        let catalog = try PluginCatalog(folder: Self.root + "/plugins", programs: "/nowhere")
        let instances = try StackConfiguration(path: nil, catalog: catalog).instances
        for instance in instances {
            let (name, variable) = (instance.name, instance.name.uppercased().replacingOccurrences(of: "-", with: "_"))
            let command =
                instance.manifest.kind == .handler
                ? "[run, \(name), --plugin, \"${HEALTHBUS_\(variable)_PLUGIN:-}\"]" : "[run, \(name)]"
            for line in [
                "  \(name):\n    <<: *process\n    command: \(command)", "HEALTHBUS_KEY_NAME: \(name) }",
                "\"\(name):/var/lib/healthbus\"", "\"keys-\(name):/var/lib/healthbus-keys/\(name):ro\"",
                "      - keys-\(name):/var/lib/healthbus-keys/\(name)\n", "\n  \(name): {}\n", "\n  keys-\(name): {}\n",
            ] { #expect(text.contains(line), "\(line)") }
        }
        // There are no other services, except the one that makes the keys, the tool, and those added by profiles.
        let services = text.matches(of: #/(?m)^ {2}([a-z-]+):\n {4}<<: \*process/#).map { String($0.1) }
        #expect(Set(services) == Set(instances.map(\.name)).union(["keys", "cli", "postgres", "places"]))
    }

    /// A profile adds a service with its own volume and key, as in the profile's configuration.
    @Test(arguments: ["places", "postgres"])
    func aProfileAddsItsInstance(_ name: String) throws {
        let text = try String(contentsOfFile: Self.root + "/docker-compose.yml", encoding: .utf8)
        let catalog = try PluginCatalog(folder: Self.root + "/plugins", programs: "/nowhere")
        let usual = try StackConfiguration(path: Self.root + "/configs/compose.json", catalog: catalog)
        let more = try StackConfiguration(path: Self.root + "/configs/compose-\(name).json", catalog: catalog)
        #expect(Set(more.instances.map(\.name)) == Set(usual.instances.map(\.name)).union([name]))
        for instance in usual.instances where instance.name != name {
            #expect(more.instance(instance.name)?.configuration == instance.configuration, "\(instance.name)")
        }
        for line in [
            "  \(name):\n    <<: *process\n    profiles: [\(name)]\n    command: [run, \(name)",
            "HEALTHBUS_KEY_NAME: \(name) }", "\"\(name):/var/lib/healthbus\"",
            "\"keys-\(name):/var/lib/healthbus-keys/\(name):ro\"",
            "      - keys-\(name):/var/lib/healthbus-keys/\(name)\n", "\n  \(name): {}\n", "\n  keys-\(name): {}\n",
        ] { #expect(text.contains(line), "\(line)") }
    }
}
