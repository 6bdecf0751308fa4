import Configuration
import Foundation
import TestSupport
import Testing

@Suite struct ManifestReaderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func reader(_ text: String) throws -> ManifestReader {
        let file = folder.path + "/plugin.json"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        return ManifestReader(file: file)
    }

    @Test func allThatIsWrongIsReportedAtOnceWithItsLine() throws {
        let found = try reader(
            """
            {
              "name": "My Hours",
              "version": "1",
              "protocol": { "min": 2, "max": 1 },
              "kind": "handlr",
              "executable": "x",
              "Types": [],
              "entitlements": ["health", "helth"],
              "triggers": ["25:00"],
              "family": "daily",
              "configuration": { "type": "array" }
            }
            """)
        #expect(found.manifest == nil)
        #expect(
            found.problems.map(\.key) == [
                "name", "version", "protocol", "kind", "Types", "entitlements[1]", "triggers[0]", "family",
                "configuration.type",
            ])
        #expect(found.problems.map(\.line) == [2, 3, 4, 5, 7, 8, 9, 10, 11])
        #expect(found.problems[3].reason.hasSuffix("did you mean \"handler\"?"))
        #expect(found.problems[4].reason.contains("did you mean 'types'?"))
    }

    /// A mistake that the schema catches isn't reported again in different words.
    @Test func eachMistakeIsReportedOnce() throws {
        let found = try reader(#"{ "name": 1, "version": null, "protocol": { "min": 1 }, "executable": "" }"#)
        let keys = found.problems.map(\.key)
        #expect(Set(keys) == ["name", "version", "protocol.max", "kind", "executable"] && keys.count == 5, "\(keys)")
    }

    /// A figure with such a name would never be in a summary.
    @Test(arguments: ["final", "hours", "missing.some"])
    func aFigureIsntNamedAfterTheSummarysOwnMembers(_ name: String) throws {
        let found = try reader(
            """
            { "name": "x", "version": 1, "protocol": { "min": 1, "max": 1 }, "kind": "handler", "executable": "x",
              "figures": [{ "name": "fine" },
                { "name": "\(name)" }] }
            """)
        #expect(found.manifest == nil && found.problems.map(\.key) == ["figures[1].name"])
        #expect(found.problems.first?.line == 3)
    }

    @Test func oneThatIsWellHasNone() throws {
        let found = try reader(
            #"{ "name": "x", "version": 1, "protocol": { "min": 1, "max": 1 }, "kind": "handler", "executable": "x" }"#)
        #expect(found.problems.isEmpty && found.manifest?.name == "x")
    }
}
