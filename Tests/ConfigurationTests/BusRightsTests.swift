import Configuration
import Foundation
import HealthModel
import MessageBus
import TestSupport
import Testing

/// Which processes may send and receive what, in the default stack with two instances under other names.
@Suite struct BusRightsTests {
    let stack: StackConfiguration
    let rights: BusRights

    init() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/stack.json"
        try Data(
            #"""
            { "instances": { "observer": null, "phone": { "plugin": "observer" }, "steps": null,
                             "walking": { "plugin": "steps" }, "notify": { "plugin": "notify" } } }
            """#.utf8
        ).write(to: URL(fileURLWithPath: file))
        stack = try StackConfiguration(path: file, catalog: try .standard())
        rights = BusRights(stack)
    }

    private func of(_ name: String) throws -> TopicGrant {
        let role = KeyRole.people.first { $0.name == name }?.role ?? .instance(name)
        return try #require(rights.grant(role, name: name))
    }

    @Test func everyInstanceIsItselfAndNobodyElse() throws {
        for instance in stack.instances where instance.manifest.kind != .hub {
            let grant = try of(instance.name)
            for other in stack.instances.map(\.name) {
                #expect(grant.mayPublish("heartbeat.\(other)") == (other == instance.name), "\(instance.name)")
                #expect(grant.mayBe(other) == (other == instance.name))
                if other != instance.name { #expect(!grant.mayHear("page.\(other)"), "\(instance.name) \(other)") }
            }
            #expect(grant.mayHear("heartbeat.\(instance.name)") && grant.mayHear("control.hello"))
            #expect(!grant.mayHear("page.client-cli-1-2"))
        }
    }

    @Test func theDashboardHearsAndAsksAndSyncsAndChangesNothing() throws {
        let grant = try of("dashboard")
        for topic in ["control.hello", "pull.walking", "pull.phone", "pull.uploader", "control.debouncer"] {
            #expect(grant.mayPublish(topic), "\(topic)")
        }
        for topic in [
            "control.phone", "control.uploader", "control.walking", "control.supervisor", "ingest.phone", "page.phone",
            "observed.x", "sync.walking", "figures.steps", "daily.summary", "alert.x",
        ] { #expect(!grant.mayPublish(topic), "\(topic)") }
        for topic in ["heartbeat.walking", "observed.x", "sync.walking", "figures.steps", "daily.summary", "alert.x"] {
            #expect(grant.mayHear(topic), "\(topic)")
        }
        for topic in ["pull.walking", "page.walking", "control.phone", "ingest.phone"] {
            #expect(!grant.mayHear(topic), "\(topic)")
        }
    }

    @Test func onlyTheObserverSaysWhatIsObserved() throws {
        for instance in stack.instances where instance.manifest.kind != .hub {
            let grant = try of(instance.name)
            #expect(grant.mayPublish("observed.x") == (instance.name == "phone"))
            #expect(grant.mayPublish("daily.summary") == (instance.name == "consolidator"))
            #expect(grant.mayPublish("sync.walking") == (instance.name == "debouncer"))
            #expect(grant.mayHear("control.phone") == (instance.name == "phone"))
        }
        // Figures have the instance's name, whichever plugin runs there.
        #expect(try of("walking").mayPublish("figures.walking") && of("walking").mayHear("sync.walking"))
        #expect(try of("walking").mayPublish("events.walking") && !of("walking").mayPublish("figures.steps"))
        #expect(try !of("walking").mayPublish("figures.sleep") && !of("walking").mayHear("sync.sleep"))
        #expect(try of("debouncer").mayPublish("control.phone") && !of("debouncer").mayPublish("control.consolidator"))
    }

    @Test func theIngestReachesObserverAndDebouncerAndHearsLittle() throws {
        let ingest = try of("ingest")
        #expect(ingest.mayPublish("ingest.phone") && ingest.mayPublish("control.debouncer"))
        // The same process in the role of its own tool, which hands files over: everything that it must send is on
        // topics that it may use.
        #expect(ingest.mayPublish("control.phone") && ingest.mayPublish("pull.phone"))
        #expect(!ingest.mayPublish("pull.sleep") && !ingest.mayPublish("observed.x"))
        #expect(ingest.mayHear("ingested.ingest") && ingest.mayHear("heartbeat.phone"))
        #expect(ingest.mayHear("heartbeat.debouncer") && !ingest.mayHear("heartbeat.sleep"))
        for topic in [
            "page.uploader", "pull.phone", "ingest.phone", "ingested.other", "daily.summary", "control.ingest",
        ] {
            #expect(!ingest.mayHear(topic), "\(topic)")
        }
        #expect(try of("phone").mayHear("ingest.phone") && of("phone").mayPublish("ingested.ingest"))
        for name in stack.instances.map(\.name) where !["hub", "ingest"].contains(name) {
            #expect(try !of(name).mayPublish("ingest.phone"), "\(name)")
        }
    }

    /// A process that may ask may also receive the answer.
    @Test func pullsAndPagesFit() throws {
        let stages = stack.instances.filter { $0.manifest.kind.isStage }.map(\.name)
        var pairs: Set<String> = []
        for consumer in stages {
            for producer in stages where try of(consumer).mayPublish("pull.\(producer)") {
                #expect(try of(producer).mayHear("pull.\(producer)") && of(producer).mayPublish("page.\(consumer)"))
                pairs.insert("\(consumer) \(producer)")
            }
            for producer in stages where try of(producer).mayPublish("page.\(consumer)") {
                #expect(
                    pairs.contains("\(consumer) \(producer)"), "\(producer) may answer \(consumer), who may not ask")
            }
        }
        #expect(pairs.isSuperset(of: ["walking phone", "uploader sleep", "consolidator walking", "notify debouncer"]))
        #expect(pairs.isDisjoint(with: ["walking sleep", "phone walking", "sleep consolidator"]))
    }

    @Test func peopleAskAndCommandOrOnlyListen() throws {
        let cli = try of("cli")
        #expect(cli.mayPublish("pull.phone") && cli.mayPublish("control.phone") && cli.mayPublish("control.hello"))
        #expect(
            !cli.mayPublish("heartbeat.phone") && !cli.mayPublish("page.walking") && !cli.mayPublish("sync.walking"))
        #expect(cli.mayBe("client-cli-1-2") && !cli.mayBe("client-anna-1-2") && !cli.mayBe("phone"))
        #expect(try of("phone").mayPublish("page.client-cli-1-2"))
        // When a file is handed over on the bus, the observer asks and the command answers.
        #expect(try of("phone").mayPublish("pull.client-cli-1-2") && !of("walking").mayPublish("pull.client-cli-1-2"))
        #expect(cli.mayPublish("page.phone"))
        let tap = try of("tap")
        #expect(tap.mayHear("page.walking") && tap.publishes.isEmpty)
        #expect(try of("supervisor").mayPublish("heartbeat.supervisor") && of("supervisor").mayPublish("control.phone"))
    }

    @Test func whomTheStackDoesNotHaveMayNothing() {
        #expect(rights.grant(.instance("observer"), name: "observer") == nil)
        #expect(rights.grant(.instance("hub"), name: "hub") == nil)
    }

    /// Each stage may receive what it subscribes to: none of the stack's own subscriptions exceeds its rights.
    @Test func topicsOfTheProtocolAreCovered() throws {
        #expect(try of("debouncer").mayHear("heartbeat.walking") && of("debouncer").mayHear("observed.x"))
        #expect(
            try of("consolidator").mayHear("heartbeat.walking") && of("consolidator").mayHear("control.consolidator"))
        #expect(try of("uploader").mayHear("heartbeat.consolidator") && of("uploader").mayHear("sync.uploader"))
        #expect(try of("notify").mayHear("heartbeat.uploader") && of("uploader").mayPublish("alert.degraded"))
        #expect(try of("phone").mayHear("acknowledged.phone") && of("debouncer").mayPublish("acknowledged.phone"))
    }
}
