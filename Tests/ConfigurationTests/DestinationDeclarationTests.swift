import Configuration
import Foundation
import HealthModel
import TestSupport
import Testing

/// What a plugin that delivers declares in its manifest.
@Suite struct DestinationDeclarationTests {
    private let folder: TemporaryFolder
    private static let plugins = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "plugins")

    init() throws { folder = try TemporaryFolder() }

    private func reader(of manifest: [String: Value]) throws -> ManifestReader {
        ManifestReader(file: try folder.file("plugin.json", Value.object(manifest).json()))
    }

    private func reader(_ options: Value, _ destination: Value = .null, kind: String = "uploader") throws
        -> ManifestReader
    {
        try reader(of: [
            "name": "x", "version": 1, "protocol": ["min": 1, "max": 1], "kind": .string(kind), "executable": "x",
            "configuration": ["type": "object", "properties": options], "destination": destination,
        ])
    }

    /// The release before this one knew these plugins by their options.
    @Test(arguments: [
        ("uploader", "backend"), ("postgres", "database"), ("fhir", "server"), ("files", "folder"),
        ("home-assistant", "broker"),
    ])
    func aManifestOfTheReleaseBeforeMeansTheSame(_ name: String, _ word: String) throws {
        let file = Self.plugins.appending(path: "\(name)/plugin.json")
        var manifest = try #require(try Value(json: Data(contentsOf: file)).object)
        let declared = try #require(try Manifest(file: file.path).destination)
        #expect(declared.word == word && declared.kind.rawValue == word)
        #expect(manifest.removeValue(forKey: "destination") != nil)
        #expect(try reader(of: manifest).manifest?.destination == declared)
    }

    /// It names only options that the manifest has.
    @Test func oneOfTheReleaseBeforeWithOtherOptionsIsTakenToo() throws {
        let text: Value = ["type": "string"]
        #expect(try reader([:]).manifest?.destination == DestinationDeclaration(.database, word: "backend"))
        let broker = try #require(try reader(["broker": text]).manifest?.destination)
        #expect(broker.kind == .broker && broker.place == ["broker"] && broker.token == nil && !broker.isVerified)
        #expect(try reader(["url": text], kind: "notifier").manifest?.destination == nil)
    }

    @Test func allOfItIsRead() throws {
        let text: Value = ["type": "string"]
        let declared = try reader(
            ["influx": text, "bucket": text, "secretFile": text, "who": ["type": "object"]],
            [
                "people": "who",
                "kind": "server", "word": "time series", "place": ["influx", "bucket"], "variable": "INFLUX",
                "keeps": "latest", "verified": false,
                "token": ["option": "secretFile", "variable": "SECRET", "word": "secret"],
            ]
        ).manifest?.destination
        #expect(
            declared
                == DestinationDeclaration(
                    .server, word: "time series", place: ["influx", "bucket"], variable: "INFLUX", keeps: .latest,
                    isVerified: false, token: .init(option: "secretFile", variable: "SECRET", word: "secret"),
                    people: "who"))
        let least = try reader(["influx": text], ["kind": "server", "place": ["influx"]]).manifest?.destination
        #expect(least == DestinationDeclaration(.server, word: "server", place: ["influx"]))
    }

    @Test func whatIsWrongIsNamed() throws {
        func keys(_ destination: Value, kind: String = "uploader") throws -> [String] {
            let found = try reader(["url": ["type": "string"]], destination, kind: kind)
            #expect(found.manifest == nil)
            return found.problems.map(\.key)
        }
        #expect(try keys(["kind": "server", "place": ["url", "uri"]]) == ["destination.place[1]"])
        #expect(
            try keys(["kind": "server", "place": ["url"], "token": ["option": "file"]]) == ["destination.token.option"])
        #expect(try keys(["kind": "server", "place": ["url"], "people": "who"]) == ["destination.people"])
        #expect(try keys(["kind": "drawer", "place": []]) == ["destination.kind", "destination.place"])
        #expect(try keys(["kind": "database", "place": ["url"], "variable": "X"]) == ["destination.variable"])
        #expect(try keys(["kind": "server", "place": ["url"]], kind: "handler") == ["destination"])
    }
}
