import Configuration
import Foundation
import HealthModel
import TestSupport
import Testing

/// The guides for authors name only what there is.
@Suite struct GuideTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func section(_ title: String) throws -> String {
        let page = try String(contentsOf: root.appending(path: "docs/plugins.md"), encoding: .utf8)
        let start = try #require(page.firstRange(of: "\n## \(title)\n"))
        let rest = page[start.upperBound...]
        return String(rest[..<(rest.firstRange(of: "\n## ")?.lowerBound ?? rest.endIndex)])
    }

    /// Everything that the sources declare: types, members and cases.
    private static func declared() throws -> Set<String> {
        var names: Set<String> = []
        for folder in ["Sources", "plugins"] {
            let files = try #require(
                FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil))
            for case let file as URL in files where file.pathExtension == "swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                for match in text.matches(
                    of: #/\b(?:class|struct|enum|protocol|func|let|var|case|typealias) (\w+)/#)
                {
                    names.insert(String(match.1))
                }
                for match in text.matches(of: #/\bcase ((?:\w+(?:\([^)]*\))?, )*\w+)/#) {
                    for name in match.1.matches(of: #/\w+/#) { names.insert(String(name.0)) }
                }
            }
        }
        return names
    }

    /// In backticks: types (`DeliveryReply`, `DeliveryPolicy.Outcome`), and members (`.onTrust`).
    @Test(arguments: ["Write a destination", "Write a way in"])
    func theirNamesAreDeclared(_ title: String) throws {
        let declared = try Self.declared()
        let guide = try Self.section(title)
        var names: [Substring] = []
        for code in guide.matches(of: #/`([^`\n]+)`/#) {
            let text = code.1
            guard let found = text.firstMatch(of: #/^\.?[A-Za-z]\w*(?:\.\w+)*/#) else { continue }
            // A member, or a type of ours; other words are manifests' members, options and commands.
            guard text.hasPrefix(".") || text.first?.isUppercase == true, !text.contains("_"), !text.contains("/"),
                !text.contains("Package.swift"), !text.contains("-")
            else { continue }
            names += found.0.split(separator: ".")
        }
        #expect(names.count > 5)
        // The plugin and the app that the guides write.
        for name in names where !name.lowercased().hasPrefix("tide") {
            let isModule = FileManager.default.fileExists(atPath: Self.root.appending(path: "Sources/\(name)").path)
            let isKnown = isModule || declared.contains(String(name))
            #expect(isKnown, "\(title): \(name)")
        }
    }

    /// The members in the first column of a guide's table are those of the type, all of them.
    @Test func theMembersOfAWayInAreThoseOfTheCode() throws {
        let rows = try Self.section("Write a way in").matches(of: #/(?m)^ *\| `(\w+)`/#).map { String($0.1) }
        let text = try String(
            contentsOf: Self.root.appending(path: "Sources/HealthPush/WayIn.swift"), encoding: .utf8)
        let declared = text.prefix(upTo: try #require(text.firstRange(of: "package static let all")).lowerBound)
            .matches(of: #/(?m)^    (?:package )?(?:private\(set\) )?(?:let|var) (\w+)/#).map { String($0.1) }
        #expect(Set(rows) == Set(declared) && rows.count == Set(rows).count)
    }

    /// The declaration that the guide shows is accepted, in the manifest that the guide says to copy.
    @Test func theDestinationThatItShowsIsAccepted() throws {
        let guide = try Self.section("Write a destination")
        let code = try #require(guide.firstMatch(of: #/```json\n((?:.|\n)*?)```/#)).1
        let shown = try #require(
            try Value(json: "{\(code.trimmingCharacters(in: .whitespacesAndNewlines).dropLast())}".utf8).object)
        var manifest = try #require(
            try Value(json: Data(contentsOf: Self.root.appending(path: "plugins/fhir/plugin.json"))).object)
        manifest.merge(shown) { $1 }
        var configuration = manifest["configuration"]?.object ?? [:]
        var options = configuration["properties"]?.object ?? [:]
        for option in shown["destination"]?["place"].array ?? [] {
            options[try #require(option.string)] = ["type": "string"]
        }
        configuration["properties"] = .object(options)
        manifest["configuration"] = .object(configuration)
        let folder = try TemporaryFolder()
        let read = ManifestReader(file: try folder.file("plugin.json", Value.object(manifest).json()))
        #expect(read.problems.isEmpty && read.manifest?.destination?.word == "time series")
    }
}
