import BackgroundDelivery
import Changelog
import Configuration
import Foundation
import HealthModel
import ObserverReading
import ObserverStage
import Protocol
import StageKit
import TestSupport
import Testing

extension ObserverDeliveryTests {
    /// Not only is the registration refused: a consumer without the entitlement can't read anything, even while the app
    /// is on screen.
    @Test func withoutTheEntitlementReadsAreRefused() throws {
        let rig = try rig(readers: ["debouncer", "steps"])
        try register(rig)
        try bring(rig, record(Self.steps, 1))
        let source = try ObserverSource(database: rig.store.database)
        for query in ["samples", "spans", "slice"] {
            #expect(throws: Never.self) { try source.answer(request(query), head: rig.store.head) { _, _ in } }
            let failure = #expect(throws: DeliveryError.self) {
                try source.answer(request(query, consumer: "sleep"), head: rig.store.head) { _, _ in }
            }
            #expect(failure?.code == .authorizationDenied)
        }
        // Zones aren't health data, and a person's own tool needs no entitlement.
        #expect(throws: Never.self) {
            try source.answer(request("zones", consumer: "sleep"), head: rig.store.head) { _, _ in }
            try source.answer(request("samples", consumer: "client-1-2"), head: rig.store.head) { _, _ in }
        }
    }

    /// The observer refuses whom the stack's own manifests don't allow.
    @Test(arguments: [["health", "background-delivery"], ["health"]]) func theManifestsDecideWhoIsRegistered(
        _ entitlements: [String]
    ) throws {
        let folder = try TemporaryFolder()
        let text = try String(contentsOfFile: Checkout.root + "/plugins/debouncer/plugin.json", encoding: .utf8)
        var manifest = try Value(json: Data(text.utf8)).object ?? [:]
        manifest["entitlements"] = .array(entitlements.map { .string($0) })
        try Value.object(manifest).json().write(toFile: folder.path + "/plugin.json", atomically: true, encoding: .utf8)
        try #"{"instances": {"debouncer": {"plugin": "\#(folder.path)"}}}"#
            .write(toFile: folder.path + "/stack.json", atomically: true, encoding: .utf8)
        let stack = try StackConfiguration(
            path: folder.path + "/stack.json",
            catalog: PluginCatalog(folder: Checkout.root + "/plugins", programs: "/nowhere"))
        let setting = StageSetting(
            stack: stack, instance: try #require(stack.only(.observer)), environment: ["HEALTHBUS_ZONE": "UTC"],
            generator: SystemRandomNumberGenerator(), reachesOut: false)
        let stage = try #require(try StagePlugin.observer.stage(setting) as? ObserverStage)
        let rig = try StageRig { stage }
        try register(rig)
        let refused = try rig.report().details["refused"]?["debouncer"].string
        #expect(refused?.contains("background-delivery") == (entitlements.count == 2 ? nil : true), "\(refused ?? "")")
    }

    /// On a sealed bus a plugin's key may also speak as a tool of its own.
    @Test func aPluginsToolIsNotAPersons() throws {
        let rig = try rig(readers: ["debouncer", "steps"], plugins: ["debouncer", "sleep", "steps"])
        try register(rig)
        try bring(rig, record(Self.steps, 1), record(Self.heart, 60))
        try command(rig, ["command": "types", "set": [Self.heart: ["denied": true]]])
        #expect(try values(rig, request("samples", consumer: "client-steps-1-1")) == [1])
        #expect(throws: DeliveryError.self) { try values(rig, request("samples", consumer: "client-sleep-1-1")) }
        try device(rig, ["locked": true])
        #expect(throws: DeliveryError.self) { try values(rig, request("samples", consumer: "client-steps-1-1")) }
        let persons = ["client-1-2", "client-cli-1-2", "client-dashboard-1-2"]
        for consumer in persons {
            #expect(try values(rig, request("samples", consumer: consumer)).sorted() == [1, 60])
        }
        let source = try ObserverSource(database: rig.store.database)
        let queries: [any Query] = [
            .documents(), .entries(user: "me"), .quarantine(user: "me"), .quarantined(RepairSelection()),
            .summaries(user: "me", from: "2025-01-01", to: "2025-01-02"),
        ]
        for query in queries {
            for consumer in ["steps", "client-steps-1-1"] {
                #expect(throws: PullRefusal.self, "\(query) for \(consumer)") {
                    try source.answer(Question(query), for: consumer, head: rig.store.head) { _, _ in }
                }
            }
            for consumer in persons {
                #expect(throws: Never.self) {
                    try source.answer(Question(query), for: consumer, head: rig.store.head) { _, _ in }
                }
            }
        }
    }

    @Test func aTypeThatIsOffCanAlsoBeDeniedAndAllowed() throws {
        let rig = try rig()
        try register(rig)
        try bring(rig, record(Self.steps, 1))
        try command(rig, ["command": "types", "set": [Self.steps: ["on": false]]])
        #expect(try values(rig, request("samples")) == [1])
        try command(rig, ["command": "types", "set": [Self.steps: ["denied": true]]])
        #expect(try values(rig, request("samples")) == [])
        try command(rig, ["command": "types", "set": [Self.steps: ["denied": false]]])
        #expect(try values(rig, request("samples")) == [1])
        try command(rig, ["command": "types", "set": [Self.steps: ["on": true, "denied": true]]])
        #expect(try values(rig, request("samples")) == [])
    }

    @Test func theNameOfAnOwnTypeIsNotLogged() throws {
        let rig = try rig()
        try register(rig)
        try command(rig, ["command": "types", "set": ["migraine": ["denied": true]]])
        try register(rig, launch: 2)
        try command(rig, ["command": "types", "set": ["migraine": ["denied": false]]])
        try bring(rig, Record(type: "migraine", start: Instant(seconds: 1_743_000_000), value: 3, unit: "count"))
        #expect(rig.log.fields(of: .authorizationAsked).map { $0["type"] } == ["other"])
        #expect(rig.log.fields(of: .observerFired).map { $0["type"] } == ["other"])
    }

    /// As on a watch, fires and app refreshes share the hour's wakes.
    @Test func anAppRefreshCountsAsAWake() throws {
        let rig = try rig(["wakesPerHour": 2])
        try register(rig)
        try device(rig, ["app": "background"])
        #expect(try bring(rig, record(Self.steps, 1)) == [Self.steps])
        #expect(try rig.report().details["nextWake"] == nil)
        let woken = rig.now
        try rig.pass(second)
        var task = ScheduledTask(id: "refresh", state: .idle)
        task.kind = .refresh
        task.history = TaskHistory()
        task.history?.lastBegin = rig.now
        // The task's start is reported with every heartbeat, but counts as a single wake.
        for _ in 0..<3 { try rig.hear(beat("debouncer", head(1), details: ["tasks": .array([Value(task)])])) }
        #expect(try rig.report().details["nextWake"]?.int == (woken + .seconds(3600)).microseconds)
        #expect(try bring(rig, record(Self.steps, 2, after: 90 * second)) == [])
        try rig.restart()
        #expect(fired(rig) == [])
        try rig.pass(3600 * second)
        #expect(fired(rig) == [Self.steps])
    }
}
