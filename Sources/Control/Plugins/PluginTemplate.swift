import Configuration
import Foundation
import Inspection
import JSON
import Logging

/// The files of a new handler: it runs unchanged, and shows where to add figures of your own.
package struct PluginTemplate: Sendable {
    package enum Language: String, Sendable, CaseIterable {
        case python, swift, node
    }

    package let name: String
    package let language: Language
    package let types: [String]
    package let reads: [String]

    static let usualType = "HKQuantityTypeIdentifierStepCount"

    /// - Parameters:
    ///   - types: type identifiers; those that a plugin in the catalog already handles are only read.
    /// - Throws: `Failure` (usage) that says what is allowed.
    package init(name: String, language: Language, types: [String], catalog: PluginCatalog) throws(Failure) {
        guard !name.isEmpty, name.utf8.count <= 64, name.utf8.first.map({ (97...122).contains($0) }) == true,
            name.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == 45 })
        else {
            throw .usage(
                "a plugin can't be named \"\(name)\"", hint: "use a-z, 0-9 and hyphens, a letter first, at most 64")
        }
        if let other = catalog.manifests[name] {
            throw .usage("there is already a plugin '\(name)': \(other.file)", hint: "choose another name")
        }
        let figure = Self.figure(of: name)
        let owner = catalog.manifests.values.filter { $0.figures.contains { $0.path[0] == figure } }.map(\.name).min()
        if FigureDeclaration.reserved.contains(figure) || owner != nil {
            throw .usage(
                "a plugin '\(name)' would begin with a figure '\(figure)', and "
                    + (owner.map { "'\($0)' has one of that name" } ?? "every summary has a member of that name"),
                hint: "choose another name")
        }
        (self.name, self.language) = (name, language)
        let types = try (types.isEmpty ? [Self.usualType] : types).map { text throws(Failure) in
            try TypeName.identifier(text)
        }
        let handled = Set(catalog.manifests.values.filter { $0.kind == .handler }.flatMap(\.types))
        self.types = types.filter { !handled.contains($0) }
        reads = types.filter { handled.contains($0) }
    }

    /// The figure it computes: "my-hours" gives "myHours".
    package var figure: String { Self.figure(of: name) }

    private static func figure(of name: String) -> String {
        let parts = name.split(separator: "-")
        return parts.prefix(1).joined() + parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The files' names and contents.
    package var files: [(name: String, text: String)] {
        var files = [("plugin.json", manifest), ("stack.json", stack)]
        switch language {
        case .python: files.append(("handler.py", Self.python))
        case .swift: files += [("handler.swift", Self.swift), ("build.sh", Self.build)]
        case .node: files.append(("handler.js", Self.node))
        }
        return (files + [("README.md", readme)]).map { ($0.0, filled($0.1)) }
    }

    private var manifest: String {
        """
        {
          "name": "@NAME@",
          "version": 1,
          "protocol": { "min": 1, "max": 1 },
          "kind": "handler",
          "exec": [@COMMAND@],
          "types": [@TYPES@],
          "reads": [@READS@],
          "figures": [{ "name": "@FIGURE@", "unit": "hours", "hourly": "@FIGURE@", "column": { "title": "@FIGURE@" } }],
          "consumes": ["sync.@NAME@"],
          "produces": ["figures.@NAME@"],
          "entitlements": ["health"],
          "configuration": {
            "type": "object",
            "properties": {
              "leastSeconds": {
                "type": "number", "minimum": 0, "default": 0,
                "description": "Shorter samples don't count."
              }
            }
          },
          "restart": "always"
        }

        """
    }

    /// A configuration that adds the plugin to the default stack.
    private var stack: String {
        """
        // Applied on top of the default with --config: the usual stack, and this plugin.
        { "instances": { "@NAME@": { "plugin": "./" } } }

        """
    }

    private func filled(_ text: String) -> String {
        func list(_ texts: [String]) -> String { texts.map { JSONString.quoted($0) }.joined(separator: ", ") }
        let command =
            switch language {
            case .python: ["python3", "handler.py"]
            case .swift: ["./handler"]
            case .node: ["node", "handler.js"]
            }
        return text.replacingOccurrences(of: "@NAME@", with: name).replacingOccurrences(of: "@FIGURE@", with: figure)
            .replacingOccurrences(of: "@COMMAND@", with: list(command))
            .replacingOccurrences(of: "@TYPES@", with: list(types))
            .replacingOccurrences(of: "@READS@", with: list(reads))
    }

    /// Writes all files into a folder that doesn't exist yet.
    /// - Throws: `Failure` when it can't be created.
    package func write(to folder: String) throws {
        let files = FileManager.default
        guard !files.fileExists(atPath: folder) else {
            throw Failure.usage("\(folder) already exists", hint: "name another folder with --output")
        }
        do {
            try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for (name, text) in self.files {
                try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
            }
            if language == .swift {
                try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder + "/build.sh")
            }
        } catch {
            throw Failure(
                "\(folder) can't be written", hint: "check that you may write there, or name another with --output")
        }
    }
}
