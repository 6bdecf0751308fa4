import Configuration
import Foundation
import HealthModel
import TestSupport
import Testing

/// The guides for authors name only what there is.
@Suite struct GuideTests {
    private static func section(_ title: String) throws -> String {
        let page = try Checkout.text("docs/plugins.md")
        let start = try #require(page.firstRange(of: "\n## \(title)\n"))
        let rest = page[start.upperBound...]
        return String(rest[..<(rest.firstRange(of: "\n## ")?.lowerBound ?? rest.endIndex)])
    }

    /// Whether the sources declare a type, member or case with this name.
    private static func isDeclared(_ name: Substring) throws -> Bool {
        let declaration = try Regex(
            #"\b(?:(?:class|struct|enum|protocol|func|let|var|typealias) |case (?:\w+(?:\([^)]*\))?, )*)\#(name)\b"#)
        return try Checkout.sources().contains { source in
            source.lines(with: String(name)).contains { $0.contains(declaration) }
        }
    }

    /// In backticks: types (`DeliveryReply`, `RetryPolicy.Outcome`), and members (`.onTrust`).
    @Test(arguments: ["Write a destination", "Write a way in"])
    func theirNamesAreDeclared(_ title: String) throws {
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
            let isModule = FileManager.default.fileExists(atPath: Checkout.root.appending(path: "Sources/\(name)").path)
            let isKnown = try isModule || Self.isDeclared(name)
            #expect(isKnown, "\(title): \(name)")
        }
    }

    /// The members in the first column of a guide's table are those of the type, all of them.
    @Test func theMembersOfAWayInAreThoseOfTheCode() throws {
        let rows = try Self.section("Write a way in").matches(of: #/(?m)^ *\| `(\w+)`/#).map { String($0.1) }
        let text = try String(
            contentsOf: Checkout.root.appending(path: "Sources/HealthPush/WayIn.swift"), encoding: .utf8)
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
            try Value(json: Data(contentsOf: Checkout.root.appending(path: "plugins/fhir/plugin.json"))).object)
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
