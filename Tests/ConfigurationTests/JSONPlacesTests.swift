import Configuration
import Foundation
import HealthModel
import TestSupport
import Testing

@Suite struct JSONPlacesTests {
    private static let text = #"""
        // "a": 1
        {
          "instances": {
            steps: { 'plugin': "steps", "configuration": { "list": [
              1,
              { "x": "}" } ] } }, /* a
            comment } */ "é\"q": -.5e3,
          },
          "bus": null }
        """#

    @Test(arguments: [
        ("instances", 3), ("instances.steps", 4), ("instances.steps.plugin", 4),
        ("instances.steps.configuration.list[0]", 5), ("instances.steps.configuration.list[1].x", 6),
        (#"instances.é"q"#, 7), ("bus", 9),
        // For a key that doesn't exist, the line of the place that would contain it.
        ("instances.steps.configuration.none", 4), ("instances.sleep", 3), ("bus.publish", 9),
        ("instances.steps.configuration.list[7]", 4),
    ])
    func keysHaveTheirLines(_ key: String, _ line: Int) {
        #expect(JSONPlaces(Self.text.utf8).line(of: key) == line)
    }

    @Test func whatIsNamedTwiceIsFound() {
        let places = JSONPlaces(#"{"a": {"b": 1},\#n"c": [{"d": 1}, {"d": 2}],\#n"a": {"b": 1, "e": 1, "e": 2}}"#.utf8)
        #expect(places.duplicates == [.init(key: "a", first: 1, line: 3)])
        #expect(JSONPlaces(Self.text.utf8).duplicates.isEmpty)
    }

    /// Parsing ends for any input, and keeps the lines of the intact part.
    @Test func whatIsNoJSONEndsIt() {
        for length in 0..<Self.text.utf8.count { _ = JSONPlaces(Self.text.utf8.prefix(length)) }
        #expect(JSONPlaces(#"{"a": 1, "b" 2}"#.utf8).line(of: "a") == 1)
        #expect(JSONPlaces(String(repeating: "[", count: 100_000).utf8).line(of: "x") == nil)
        for text in ["", "/", "/*", "{", "{\"a", "\\", "{\"\\u12", "\u{FEFF}{a:1}"] { _ = JSONPlaces(text.utf8) }
    }

    /// All mistakes in the manifest of a plugin that is elsewhere are reported, in addition to those of the stack.
    @Test func mistakesOfAManifestAreReportedWithThoseOfTheStack() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/mine", withIntermediateDirectories: true)
        try """
        { "name": "mine", "version": "1",
          "protocol": { "min": 1, "max": 1 }, "kind": "handlr", "executable": "x" }
        """.write(toFile: folder.path + "/mine/plugin.json", atomically: true, encoding: .utf8)
        let file = folder.path + "/stack.json"
        try """
        {
          "instances": { "mine": { "plugin": "./mine" }, "other": { "plugin": "./none" } },
          "bus": { "seald": true, "keys": 1 }
        }
        """.write(toFile: file, atomically: true, encoding: .utf8)
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let catalog = try PluginCatalog(folder: root + "/plugins", programs: "/nowhere")
        let problems = try StackConfigurationReader(path: file, catalog: catalog).problems
        #expect(
            problems.map { "\(($0.file as NSString).lastPathComponent):\($0.line ?? 0) \($0.key)" } == [
                "stack.json:2 instances.other.plugin", "stack.json:3 bus.seald", "stack.json:3 bus.keys",
                "plugin.json:1 version", "plugin.json:2 kind",
            ])
    }

    @Test func allThatIsWrongIsReportedAtOnceWithItsLine() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/stack.json"
        try """
        {
          "instances": {
            "debouncer": { "configuration": { "windowSecond": 1,
              "maximumWaitSeconds": -1 } },
            "steps": { "plugin": "stepz" },
            "steps": { "plugin": "steps" },
          },
          "monitoring": { "port": 70000 },
          "instancez": {}
        }
        """.write(toFile: file, atomically: true, encoding: .utf8)
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let catalog = try PluginCatalog(folder: root + "/plugins", programs: "/nowhere")
        let problems = try StackConfigurationReader(path: file, catalog: catalog).problems
        #expect(problems.map(\.line) == [3, 4, 5, 6, 8, 9])
        #expect(
            problems.map(\.key) == [
                "instances.debouncer.configuration.windowSecond",
                "instances.debouncer.configuration.maximumWaitSeconds", "instances.steps.plugin", "instances.steps",
                "monitoring.port",
                "instancez",
            ])
        #expect(problems[0].reason.contains("did you mean 'windowSeconds'?"))
        #expect(problems[0].description.hasPrefix("\(file):3: 'instances.debouncer"))
        let thrown = #expect(throws: ConfigurationError.self) { try StackConfiguration(path: file, catalog: catalog) }
        #expect(thrown == problems.first)
    }
}
