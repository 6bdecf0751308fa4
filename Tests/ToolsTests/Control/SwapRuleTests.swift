import Configuration
import Control
import Foundation
import HealthModel
import Logging
import TestSupport
import Testing

/// Tests which plugins may take the place of an instance while all others keep running.
@Suite struct SwapRuleTests {
    private let folder: TemporaryFolder
    private let catalog: PluginCatalog

    init() throws {
        folder = try TemporaryFolder()
        let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../plugins").standardizedFileURL
            .path
        catalog = try PluginCatalog(folder: root, programs: "/nowhere")
    }

    private func stack(_ config: String = "{}", _ choices: [String: String] = [:]) throws -> StackConfiguration {
        try config.write(toFile: folder.path + "/config.json", atomically: true, encoding: .utf8)
        return try StackConfiguration(
            path: folder.path + "/config.json", choices: choices.mapValues { .plugin($0) }, catalog: catalog)
    }

    /// A custom handler whose manifest is that of `other` with `changes`.
    private func plugin(_ name: String, like other: String, _ changes: [String: Value]) throws -> String {
        var manifest =
            try Value(
                json: Data(contentsOf: URL(fileURLWithPath: catalog.manifests[other]?.file ?? ""))
            ).object ?? [:]
        manifest["name"] = .string(name)
        manifest.merge(changes) { $1 }
        let place = folder.path + "/" + name
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try Value.object(manifest).json().write(toFile: place + "/plugin.json", atomically: true, encoding: .utf8)
        return place
    }

    @Test func thoseThatTheOthersNeedNotKnow() throws {
        let running = try stack()
        for name in running.instances.map(\.name) {
            #expect(SwapRule.refusal(name, running: running, wanted: running) == nil, "\(name)")
        }
        let choices = [
            ("steps", "steps-python"), ("sleep", "sleep-python"),
            ("steps", try plugin("mine", like: "steps", ["version": 7, "consumes": []])),
            ("workouts", try plugin("ours", like: "workouts", ["produces": ["figures.ours", "events.ours"]])),
        ]
        for (instance, choice) in choices {
            let wanted = try stack("{}", [instance: choice])
            #expect(SwapRule.refusal(instance, running: running, wanted: wanted) == nil, "\(choice)")
        }
    }

    static let weight: Value = "HKQuantityTypeIdentifierBodyMass"

    @Test(
        arguments: [
            ("steps", ["types": [weight]], "'types'"), ("steps", ["types": []], "'types'"),
            ("steps", ["reads": [weight]], "'reads'"), ("steps", ["triggers": [weight]], "'triggers'"),
            ("steps", ["produces": ["events.mine"]], "it has events"),
            ("sleep", ["produces": []], "it has no events"), ("debouncer", ["entitlements": []], "entitlements"),
            ("steps", ["entitlements": []], "entitlement"),
        ] as [(String, [String: Value], String)])
    func thoseThatTheOthersWouldHaveToKnow(_ instance: String, _ changes: [String: Value], _ what: String) throws {
        let mine = try plugin("mine", like: instance, changes)
        let refusal = SwapRule.refusal(instance, running: try stack(), wanted: try stack("{}", [instance: mine]))
        #expect(refusal?.message.contains(what) == true && refusal?.hint != nil, "\(String(describing: refusal))")
    }

    /// When it starts, the observer learns which instance brings it the changes of another stack. The address of that
    /// stack doesn't matter to it.
    @Test func beginningToFollow() throws {
        func ingest(_ options: String) throws -> StackConfiguration {
            try stack(#"{ "instances": { "ingest": { "configuration": {\#(options)} } } }"#)
        }
        let (none, one) = (try ingest(""), try ingest(#""followUrl": "https://a.example.org""#))
        for (running, wanted) in [(none, one), (one, none)] {
            let refusal = SwapRule.refusal("ingest", running: running, wanted: wanted)
            #expect(
                refusal?.message.contains("'followUrl'") == true && refusal?.hint?.contains("start the stack") == true)
        }
        let other = try ingest(#""followUrl": "https://b.example.org""#)
        #expect(SwapRule.refusal("ingest", running: one, wanted: other) == nil)
    }

    @Test func anotherKind() throws {
        let refusal = SwapRule.refusal(
            "notify", running: try stack(#"{ "instances": { "notify": { "plugin": "notify" } } }"#),
            wanted: try stack(#"{ "instances": { "notify": { "plugin": "backend" } } }"#))
        #expect(refusal?.message.contains("its kind is backend, not notifier") == true)
    }

    /// The family's own plugin delivers samples under that family; if an instance had a different name, it would lose
    /// the family.
    @Test func theFamilyStays() throws {
        let config = #"{ "instances": { "steps": null, "walks": { "plugin": "steps" } } }"#
        let refusal = SwapRule.refusal(
            "walks", running: try stack(config), wanted: try stack(config, ["walks": "steps-python"]))
        #expect(refusal?.message.contains("delivered as 'other', not as 'steps'") == true)
    }

    /// Processes that are running don't see changes made to a file since they started.
    @Test func theOthersAreAsTheyRun() throws {
        let running = try stack()
        for config in [
            #"{ "instances": { "body": null } }"#, #"{ "instances": { "more": { "plugin": "notify" } } }"#,
            #"{ "instances": { "backend": { "configuration": { "port": 9999 } } } }"#,
        ] {
            let refusal = SwapRule.refusal("steps", running: running, wanted: try stack(config))
            #expect(refusal?.message.contains("has changed since the stack was started") == true, "\(config)")
        }
        #expect(SwapRule.refusal("stesp", running: running, wanted: running)?.hint == "did you mean 'steps'?")
    }
}
