import Configuration
import Foundation
import HealthModel
import Processes
import Terminal

/// `healthbus plugins list` and `show`: the manifests, for people and programs.
package struct PluginReport {
    private let catalog: PluginCatalog

    package init(_ catalog: PluginCatalog) { self.catalog = catalog }

    private var manifests: [Manifest] { catalog.manifests.values.sorted { $0.name < $1.name } }

    /// - Parameter stack: the stack whose instances are listed.
    package func table(_ stack: StackConfiguration, for terminal: Terminal) -> String {
        var table = Table([
            .init("Plugin"), .init("Kind"), .number("Version"), .init("Instances"), .init("Types", givesWay: 2),
            .init("Program", givesWay: 1),
        ])
        for manifest in all(stack) {
            table.add([
                manifest.name, manifest.kind.rawValue, "\(manifest.version)",
                instances(manifest, stack).joined(separator: ", "),
                Self.types(manifest), Self.program(manifest),
            ])
        }
        return table.render(for: terminal)
    }

    package func json(_ stack: StackConfiguration) -> String {
        Value.array(all(stack).map { value($0, stack) }).json(pretty: true)
    }

    /// The manifests in the catalog, and those that the configuration names by path.
    private func all(_ stack: StackConfiguration) -> [Manifest] {
        let others = stack.instances.map(\.manifest).filter { catalog.manifests[$0.name]?.file != $0.file }
        let byFile = Dictionary(others.map { ($0.file, $0) }) { first, _ in first }
        return manifests + byFile.values.sorted { ($0.name, $0.file) < ($1.name, $1.file) }
    }

    private func instances(_ manifest: Manifest, _ stack: StackConfiguration) -> [String] {
        stack.instances.filter { $0.manifest.file == manifest.file }.map(\.name)
    }

    private static func types(_ manifest: Manifest) -> String {
        let names = (manifest.types + manifest.reads).map { type in
            ["HKQuantityTypeIdentifier", "HKCategoryTypeIdentifier"].first { type.hasPrefix($0) }
                .map { String(type.dropFirst($0.count)) } ?? type
        }
        return names.count > 2 ? "\(names[0]) and \(names.count - 1) more" : names.joined(separator: ", ")
    }

    private static func program(_ manifest: Manifest) -> String {
        manifest.exec?.words.joined(separator: " ") ?? manifest.executable
    }

    package func value(_ manifest: Manifest, _ stack: StackConfiguration) -> Value {
        func texts(_ list: [String]) -> Value { .array(list.map { .string($0) }) }
        return [
            "name": .string(manifest.name), "kind": .string(manifest.kind.rawValue),
            "version": .integer(Int64(manifest.version)),
            "protocol": [
                "min": .integer(Int64(manifest.protocolVersions.lowerBound)),
                "max": .integer(Int64(manifest.protocolVersions.upperBound)),
            ],
            "file": .string(manifest.file), "exec": manifest.exec.map { texts($0.words) } ?? .null,
            "executable": manifest.exec == nil ? .string(catalog.program(manifest)) : .null,
            "types": texts(manifest.types), "reads": texts(manifest.reads), "consumes": texts(manifest.consumes),
            "family": Value(manifest.family), "figures": texts(manifest.figures.map { $0.path.joined(separator: ".") }),
            "produces": texts(manifest.produces), "restart": .string(manifest.restart.rawValue),
            "configuration": manifest.configuration, "instances": texts(instances(manifest, stack)),
        ]
    }

    /// Everything in one manifest.
    package func text(_ manifest: Manifest, _ stack: StackConfiguration, for terminal: Terminal) -> String {
        var lines: [(String, String)] = [
            ("Plugin", "\(manifest.name), version \(manifest.version)"), ("Kind", manifest.kind.rawValue),
            ("Manifest", manifest.file),
            (
                manifest.exec == nil ? "Program" : "Command",
                manifest.exec == nil ? catalog.program(manifest) : Self.program(manifest)
            ),
        ]
        let range = manifest.protocolVersions
        lines.append(
            ("Protocol", range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"))
        lines.append(("Restart", manifest.restart.rawValue))
        if let destination = manifest.destination { lines.append(("Sends to", "the \(destination.word)")) }
        let lists = [
            ("Types", manifest.types), ("Reads", manifest.reads), ("Family", manifest.family.map { [$0] } ?? []),
            ("Figures", manifest.figures.map(\.title)), ("Consumes", manifest.consumes),
            ("Produces", manifest.produces), ("Instances", instances(manifest, stack)),
        ]
        for (title, list) in lists {
            for (index, text) in list.enumerated() { lines.append((index == 0 ? title : "", text)) }
        }
        var text = ""
        for (title, value) in lines {
            text += title + String(repeating: " ", count: 11 - title.count) + value + "\n"
        }
        let properties = manifest.configuration["properties"].object ?? [:]
        guard !properties.isEmpty else { return text + "Options    none\n" }
        var table = Table([.init("Option"), .init("Type"), .init("Default"), .init("What")])
        for (name, property) in properties.sorted(by: { $0.key < $1.key }) {
            let fallback = property["default"].isNull ? "" : property["default"].json()
            table.add([name, property["type"].string ?? "", fallback, property["description"].string ?? ""])
        }
        return text + "\n" + table.render(for: terminal)
    }
}
