import Configuration
import Foundation
import HomeAssistantStage
import Testing

@Suite struct MQTTTopicsTests {
    private static let topics = MQTTTopics(base: "home", discoveryPrefix: "ha")

    @Test func onlyOurOwnTopicsAreOurs() {
        let topics = Self.topics
        #expect(topics.isDay("home/me/today") && topics.isDay("home/me/yesterday"))
        #expect(topics.isDiscovery("ha/sensor/home/me--steps/config"))
        for other in [
            "home/kitchen/temperature", "home/status", "home/today", "home/a/b/today", "other/me/today",
            "ha/sensor/other/x/config", "ha/sensor/home/config", "ha/light/home/x/config", "home/x/config",
        ] {
            #expect(!topics.isDay(other) && !topics.isDiscovery(other), "\(other)")
        }
        #expect(
            topics.own == ["home/status", "home/+/today", "home/+/yesterday", "ha/sensor/home/+/config"])
    }

    /// Otherwise we and Home Assistant would publish "online" on the same topic.
    @Test(arguments: [
        (#"{"topic": "homeassistant"}"#, "must not be the discovery prefix"),
        (#"{"topic": "x", "discoveryPrefix": "x"}"#, "must not be the discovery prefix"),
        (#"{"topic": "a/b"}"#, "must be 1 to 64"),
    ])
    func namesThatCannotBeMeantAreRefused(_ options: String, _ words: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try stage(options) }
        #expect(error.description.contains(words) && error.key.hasSuffix(".configuration.topic"))
    }

    @Test func otherNamesAreAccepted() throws { _ = try stage(#"{"topic": "home"}"#) }

    private func stage(_ options: String) throws -> HomeAssistantStage {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let file = FileManager.default.temporaryDirectory.appending(path: "topics-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try #"{"instances": {"ha": {"plugin": "home-assistant", "configuration": \#(options)}}}"#
            .write(to: file, atomically: true, encoding: .utf8)
        let catalog = try PluginCatalog(folder: root + "/plugins", programs: "/nowhere")
        let stack = try StackConfiguration(path: file.path, catalog: catalog)
        return try HomeAssistantStage(stack: stack, instance: try #require(stack.instance("ha")))
    }
}
