import Configuration
import Foundation
import HealthModel
import MessageBus
import Protocol
import TestSupport
import Testing

/// Tests which senders are trusted for each topic.
@Suite struct BusTrustTests {
    private let stack: StackConfiguration
    private let trust: BusTrust
    private static let names = [
        "hub", "phone", "debouncer", "walking", "heart-rate", "sleep", "consolidator", "uploader", "backend", "notify",
        "ingest", "supervisor", "cli", "client-cli-1-2", "client-7-9", "client-sleep-1-2", "client-heart-rate-3-4",
        "nobody",
    ]
    private static let people = ["supervisor", "cli", "client-cli-1-2", "client-7-9", "nobody"]

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
        trust = BusRights(stack).trust
    }

    private func believes(_ from: String, _ topic: String, _ body: Value = .null) -> Bool {
        trust(Message(topic: topic, header: .init(from: from, at: 1), body: body))
    }

    /// The senders whose messages on a topic are trusted; members that name the sender are filled in for each of them.
    private func believed(_ topic: String, _ body: [String: Value] = [:], naming member: String? = nil) -> Set<String> {
        Set(
            Self.names.filter { name in
                var body = body
                if let member { body[member] = .string(name) }
                return believes(name, topic, .object(body))
            })
    }

    @Test func everybodySpeaksForHimselfAlone() {
        for name in Self.names {
            #expect(believed("heartbeat.\(name)") == [name])
            let isInstance = stack.instance(name) != nil
            #expect(believed("standby.\(name)") == (isInstance ? [name] : []), "\(name)")
        }
    }

    @Test func hintsComeFromWhomTheyAreAbout() {
        #expect(believed("observed.HKQuantityTypeIdentifierStepCount") == ["phone"])
        for consumer in ["walking", "sleep", "uploader"] { #expect(believed("sync.\(consumer)") == ["debouncer"]) }
        #expect(believed("sync.consolidator").isEmpty)
        #expect(believed("acknowledged.phone", naming: "consumer") == ["debouncer"])
        #expect(!believes("debouncer", "acknowledged.phone", ["consumer": "sleep"]))
        #expect(believed("daily.summary") == ["consolidator"])
        #expect(believed("figures.sleep") == ["sleep"] && believed("events.sleep") == ["sleep"])
        #expect(believed("alert.quarantined").isSuperset(of: ["phone", "debouncer", "sleep", "uploader"]))
        #expect(believed("alert.quarantined").isDisjoint(with: ["consolidator", "backend", "hub", "client-sleep-1-2"]))
        #expect(believed("nothing.known").isEmpty)
    }

    /// A page counts only if its producer sent it in its own name, and the consumer may ask that producer for it.
    @Test func pagesComeFromTheirProducer() {
        let handlers = Set(stack.handlers.map(\.name))
        let known = Set(Self.names)
        #expect(believed("page.sleep", naming: "producer") == ["phone"])
        #expect(believed("page.debouncer", naming: "producer") == ["phone"])
        #expect(believed("page.consolidator", naming: "producer") == handlers.union(["phone"]).intersection(known))
        #expect(
            believed("page.uploader", naming: "producer")
                == handlers.union(["phone", "consolidator"]).intersection(known))
        #expect(believed("page.phone", naming: "producer") == Set(Self.people))
        let producers = handlers.union(["phone", "debouncer", "consolidator", "uploader", "notify"])
        #expect(believed("page.client-cli-1-2", naming: "producer") == producers.intersection(known))
        for name in Self.names where name != "phone" {
            for consumer in ["sleep", "uploader", "consolidator", "client-cli-1-2"] {
                #expect(!believes(name, "page.\(consumer)", ["producer": "phone"]), "\(name) \(consumer)")
                #expect(!believes(name, "page.\(consumer)"), "\(name) \(consumer)")
            }
        }
    }

    /// Each process asks in its own name, so it can't make a producer send an answer to a process that hasn't asked for
    /// one.
    @Test func requestsComeFromTheirConsumer() {
        #expect(
            believed("pull.phone", naming: "consumer").isSuperset(
                of: Self.people + ["debouncer", "sleep", "uploader", "client-sleep-1-2", "client-heart-rate-3-4"]))
        #expect(believed("pull.phone", naming: "consumer").isDisjoint(with: ["hub", "backend", "phone"]))
        let ofSleep = Set(["consolidator", "uploader", "notify"] + Self.people)
        #expect(believed("pull.sleep", naming: "consumer") == ofSleep)
        // The bytes of a file that is handed over by a tool.
        #expect(believed("pull.client-cli-1-2", naming: "consumer") == ["phone"])
        for name in Self.names where name != "uploader" {
            #expect(!believes(name, "pull.phone", ["consumer": "uploader"]), "\(name)")
            #expect(!believes(name, "pull.sleep", ["consumer": "uploader"]), "\(name)")
        }
    }

    @Test func commandsComeFromPeople() {
        let people = Set(Self.people)
        for command in ["import", "zone", "device", "types", "mend", "launch", "expire", "cancel"] {
            #expect(believed("control.phone", ["command": .string(command)]) == people, "\(command)")
        }
        for instance in ["walking", "sleep", "consolidator", "uploader", "notify", "supervisor"] {
            for command in ["sync", "mend", "launch", "swap"] {
                #expect(believed("control.\(instance)", ["command": .string(command)]) == people, "\(instance)")
            }
        }
    }

    /// The ingest can wake the app, but can give no other commands.
    @Test func theIngestBringsSamplesAndWakesAndNothingElse() {
        #expect(believed("ingest.phone") == ["ingest"] && believed("ingested.ingest") == ["phone"])
        #expect(believed("ingest.sleep").isEmpty && believed("ingested.sleep").isEmpty)
        let people = Set(Self.people)
        #expect(believed("control.debouncer", ["command": "wake"]) == people.union(["ingest"]))
        // A sync that isn't counted is for people.
        for command in ["sync", "mend", "launch", "expire", "cancel", "swap", "register"] {
            #expect(believed("control.debouncer", ["command": .string(command)]) == people, "\(command)")
        }
        for instance in ["phone", "walking", "uploader", "consolidator", "supervisor", "hello"] {
            #expect(!believes("ingest", "control.\(instance)", ["command": "wake"]), "\(instance)")
        }
        #expect(!believes("ingest", "pull.phone", ["consumer": "ingest", "query": "imports"]))
        // The ingest's tool hands files over, and asks how much of each has arrived.
        let tool = "client-ingest-1-2"
        #expect(believes(tool, "pull.phone", ["consumer": .string(tool), "query": "imports"]))
        #expect(!believes(tool, "pull.phone", ["consumer": .string(tool), "query": "slice"]))
    }

    @Test func theDashboardAsksAndSyncsAndCommandsNothingElse() {
        for name in ["dashboard", "client-dashboard-1-2"] {
            #expect(believes(name, "control.hello"))
            #expect(believes(name, "pull.phone", ["consumer": .string(name), "query": "slice"]))
            #expect(believes(name, "control.debouncer", ["command": "sync", "id": "1", "metric": "sleep", "head": 7]))
            #expect(!believes(name, "control.debouncer", ["command": "sync", "id": "1", "history": "all"]))
            for command in ["mend", "launch", "expire", "cancel", "register"] {
                #expect(!believes(name, "control.debouncer", ["command": .string(command)]), "\(command)")
            }
            for instance in ["phone", "walking", "uploader", "consolidator", "supervisor"] {
                for command in ["sync", "mend", "check", "import"] {
                    #expect(!believes(name, "control.\(instance)", ["command": .string(command)]), "\(instance)")
                }
            }
        }
    }

    @Test func theDebouncerRegistersItselfAndNothingElse() {
        let register: [String: Value] = ["command": "register", "launch": 2, "types": [:]]
        #expect(believed("control.phone", register, naming: "consumer") == ["debouncer"])
        #expect(!believes("debouncer", "control.phone", .object(register.merging(["consumer": "uploader"]) { $1 })))
        #expect(
            !believes("client-cli-1-2", "control.phone", .object(register.merging(["consumer": "debouncer"]) { $1 })))
        #expect(!believes("debouncer", "control.sleep", ["command": "mend"]))
    }

    /// A command may offer the bytes of its own file, but not those of another command's.
    @Test func nobodyOffersAnothersFile() {
        let offer: Value = ["command": "import", "id": "x", "sender": "client-cli-1-2"]
        #expect(believes("client-cli-1-2", "control.phone", offer))
        #expect(!believes("client-anna-3-4", "control.phone", offer))
    }

    /// What the hub passes on and what is trusted come from a single table: nothing is trusted from an instance unless
    /// its key entitles it to send that.
    @Test func nothingIsBelievedThatTheHubWouldNotPassOn() throws {
        let topics =
            ["heartbeat", "standby", "sync", "page", "pull", "control", "acknowledged", "ingest", "ingested"].flatMap {
                family in
                Self.names.map { "\(family).\($0)" }
            } + ["observed.x", "daily.summary", "figures.sleep", "events.sleep", "alert.x", "control.hello"]
        let rights = BusRights(stack)
        for name in Self.names {
            guard let instance = stack.instance(name) ?? BusName.owner(ofTool: name).flatMap(stack.instance),
                let grant = rights.grant(.instance(instance.name), name: instance.name)
            else { continue }
            #expect(grant.mayBe(name))
            for topic in topics where topic != "heartbeat.\(name)" {
                let body: Value = ["consumer": .string(name), "producer": .string(name), "command": "register"]
                if believes(name, topic, body) { #expect(grant.mayPublish(topic), "\(name) \(topic)") }
            }
        }
    }

    // MARK: Names

    @Test func aToolsOwnerIsCertain() {
        #expect(BusName.owner(ofTool: "client-heart-rate-7-9") == "heart-rate")
        #expect(BusName.owner(ofTool: "client-sleep-7-9") == "sleep")
        for none in ["client-7-9", "client--7", "client-sleep-7-x", "client-sleep", "sleep", "client-sleep-7-", ""] {
            #expect(BusName.owner(ofTool: none) == nil, "\(none)")
        }
        #expect(BusName.owner(of: "client-sleep-7-9") == "sleep" && BusName.owner(of: "sleep") == "sleep")
    }

    /// 'heart' can't pass for 'heart-rate', whatever its tools are called; nor does it receive the answers to
    /// 'heart-rate'.
    @Test func noNameReachesIntoAnothers() throws {
        let rights = BusRights(stack)
        let heart = try #require(rights.grant(.operator, name: "heart"))
        #expect(heart.mayBe("client-heart-7-9") && heart.mayBe("heart"))
        #expect(
            !heart.mayBe("client-heart-rate-7-9") && !heart.mayBe("client-heart-7-9-1") && !heart.mayBe("client-7-9"))
        let grant = try #require(rights.grant(.instance("sleep"), name: "sleep"))
        #expect(grant.mayHear("page.client-sleep-7-9") && !grant.mayHear("page.client-sleep-apnea-7-9"))
    }

    /// If the key of a person had the name of an instance, it would count as that instance's.
    @Test func aPersonHasNoInstancesName() {
        let rights = BusRights(stack)
        for role in [KeyRole.operator, .tap, .supervisor] {
            for name in ["sleep", "hub", "phone"] { #expect(rights.grant(role, name: name) == nil, "\(role) \(name)") }
        }
    }
}
