import CZeroMQ
import Changelog
import Client
import Configuration
import Control
import Foundation
import HTTP
import HealthGenerator
import HealthModel
import MessageBus
import Processes
import Protocol
import StageKit
import TestSupport
import Testing

/// The messages on the bus of a whole stack that imports a made-up person's export, recorded by a tap.
struct LiveStack {
    /// The frames of each message (topic, header, body), in order of arrival.
    private(set) var frames: [[[UInt8]]] = []
    private(set) var messages: [Message] = []
    private(set) var exit: ProcessExit?

    private var rules = SchemaRules()
    /// For each rule that applied to some message, the largest body that had to obey it.
    private(set) var bodies: [String: [UInt8]] = [:]
    private(set) var items: [SchemaChecker.Item] = []
    /// Topics that no rule covers.
    private(set) var unknown: Set<String> = []

    /// Every rule that is used in ordinary operation of a stack.
    static let rules: Set<String> = [
        "heartbeat", "heartbeat-hub", "heartbeat-ingest", "heartbeat-dashboard", "ingest", "ingested",
        "heartbeat-observer",
        "heartbeat-debouncer", "heartbeat-handler",
        "heartbeat-consolidator", "heartbeat-uploader", "heartbeat-supervisor", "observed", "sync", "hint",
        "pull-changes", "pull-samples", "pull-spans", "pull-slice", "pull-zones", "pull-imports", "pull-types",
        "page-changes", "page-samples", "page-spans", "page-slice", "page-zones", "page-imports", "page-types",
        "page-error", "control-import", "pull-day", "pull-completeness", "pull-summaries", "pull-quarantine",
        "page-day", "page-completeness", "page-summaries", "page-quarantine", "pull-timeline", "page-timeline",
        "control-zone",
        "page-error", "control-import", "control-register", "control-device", "control-types", "pull-delivery",
        "page-delivery", "pull-file", "page-file", "control-sync", "control-wake", "control-task", "acknowledged",
        "control-swap", "standby",
        "control-mend", "pull-quarantined", "page-quarantined", "pull-letters", "page-letters",
        "pull-entries", "page-entries", "pull-sources", "page-sources",
    ]

    static let unknownQuery = "nothing"

    /// A single run for all tests of this process.
    static let recorded = Result { try LiveStack() }

    private init() throws {
        let folder = try TemporaryFolder()
        let export = folder.path + "/export.zip"
        _ = try ExportGenerator(.init(days: 12, seed: 3)).write(to: export) { _, _ in }
        let state = StateFolder(path: folder.path + "/state")
        let context = try ZeroMQContext()
        // The tap's queue is long, so that as little as possible is missed while this thread asks questions.
        let tap = try ZeroMQSocket(context, type: ZMQ_SUB, highWaterMark: 100_000)
        try tap.connect(state.address.subscribe)
        try tap.subscribe("")
        let (port, ingest) = (try freePort(), try freePort())
        let stack = try RunningProgram(
            "healthbus", ["up", "--state", state.path, "--zone", "Europe/Berlin", "--import", export],
            environment: [
                "HEALTHBUS_BACKEND_PORT": "\(port)", "HEALTHBUS_INGEST_PORT": "\(ingest)",
                "HEALTHBUS_DASHBOARD_PORT": "0",
                "HEALTHBUS_PLUGINS": SchemaChecker.checkout + "/plugins",
            ]
        )
        defer { exit = exit ?? stack.stop() }
        try record(tap) { $0.isDelivered }
        try push(state, ingest)
        try ask(state.address, export: export)
        try record(tap) { $0.answered }
        exit = stack.stop()
        try record(tap) { $0.messages.contains { $0.topic == "heartbeat.uploader" && $0.body["phase"] == "stopped" } }
    }

    /// Pushes some of each: samples, deletions, and input that isn't understood or can't be true.
    private func push(_ state: StateFolder, _ port: Int) throws {
        let token = try TokenFile(state).add(TokenWish(), now: Instant(seconds: 1_743_000_000)).secret.text
        let http = try HTTPClient(base: "http://127.0.0.1:\(port)")
        func post(_ path: String, _ body: String) throws -> Int {
            try http.send(
                HTTPRequest(
                    method: "POST", path: path,
                    headers: ["Authorization": "Bearer \(token)", "Content-Type": "application/json"],
                    body: Array(body.utf8))
            ).status
        }
        let steps = "\"type\": \"HKQuantityTypeIdentifierStepCount\", \"start\": \"2025-04-01T08:00:00+02:00\""
        let body = """
            {"samples": [{\(steps), "value": 7, "uuid": "01977F3A-5C00-8ABC-9DEF-0123456789AB", "metadata": {"a": 1}},
              {\(steps), "value": 7e12}, {"type": 7}],
             "deleted": ["01977F3A-5C00-8ABC-9DEF-0123456789AC"]}
            """
        #expect(try post("/v1/samples", body) == 200)
        #expect(try post("/v1/wake", "") == 202)
    }

    private mutating func record(_ tap: ZeroMQSocket, until isDone: (LiveStack) -> Bool) throws {
        var count = -1
        let done = try eventually {
            while let next = try tap.receive() { try take(next) }
            defer { count = messages.count }
            return count != messages.count && isDone(self)
        }
        try #require(done, "the stack doesn't get that far; of \(messages.count) messages the last: \(lastTopics)")
    }

    private var lastTopics: [String] { messages.suffix(20).map(\.topic) }

    private mutating func take(_ new: [[UInt8]]) throws {
        let message = try Message(frames: new)
        frames.append(new)
        messages.append(message)
        items.append(.init(rule: "header", bytes: new[1]))
        guard let names = rules.rules(for: message) else {
            unknown.insert(message.topic)
            return
        }
        for name in names {
            items.append(.init(rule: name, bytes: new[2]))
            // The largest body covers the most of its rule.
            if new[2].count > bodies[name]?.count ?? 0 { bodies[name] = new[2] }
        }
    }

    /// Whether the uploader has delivered everything.
    private var isDelivered: Bool {
        func last(_ instance: String) -> Heartbeat? {
            messages.last { $0.topic == Heartbeat.topic(instance) }.flatMap { Heartbeat($0) }
        }
        guard let observer = last("observer"), let head = observer.head, observer.details["importOpen"] == false,
            observer.heads.count > 10, let consolidator = last("consolidator"), let uploader = last("uploader"),
            let days = consolidator.details["days"]?.int, days >= 12, consolidator.details["openDays"] == 0
        else { return false }
        return uploader.frontier["observer"] ?? .beginning >= head.sequence
            && uploader.frontier["consolidator"] ?? .beginning >= consolidator.head?.sequence ?? .end
    }

    /// Asks questions that a stack doesn't ask on its own: valid ones, and some that are refused.
    private mutating func ask(_ address: BusAddress, export: String) throws {
        let client = try StackClient(address: address)
        defer { client.close() }
        _ = client.gather(["observer", "uploader"], within: Patience.seconds)
        let types = try #require(try client.ask("observer", ["query": "types"], within: Patience.seconds))
        let phone: Value = ["battery": 0.5, "network": ["satisfied": true, "interface": "wifi"]]
        client.command("observer", ["command": "device", "set": phone])
        client.command("observer", ["command": "types", "set": ["HKQuantityTypeIdentifierBodyMass": ["on": false]]])
        let denied: Value = ["HKQuantityTypeIdentifierHeight": ["denied": true]]
        client.command("observer", ["command": "types", "set": denied])
        let isRaised = try eventually {
            let changes: [String: Value] = [
                "query": "changes", "topic": "alert.", "after": 0, "until": .integer(.max),
            ]
            let alerts = try client.ask("observer", changes, within: Patience.seconds)
            return alerts?.contains { $0["rows"].array?.isEmpty == false } == true
        }
        #expect(isRaised)
        let delivery = try #require(try client.ask("observer", ["query": "delivery"], within: Patience.seconds)?.first)
        #expect(delivery["device"]["app"] == "active")
        #expect(types.first?["types"].array?.isEmpty == false)
        try askOfDays(client)
        try changeZones(client)
        // The file's name means a different file to the observer, which therefore asks for the bytes.
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: export))
        let outcome = try ImportClient(client: client, observer: "observer").run(
            "/proc/self/fd/\(file.fileDescriptor)", user: "me",
            options: .init(isComplete: true, isTrial: true, deleteUpTo: 10))
        #expect(outcome.report?["added"] == 0)
        try file.close()
        #expect(throws: StageError.self) {
            try client.ask("observer", ["query": .string(Self.unknownQuery)], within: Patience.seconds)
        }
        let stranger: [String: Value] = [
            "query": "zones", "store": "another", "generation": "g", "after": 5, "until": 6,
        ]
        #expect(try client.ask("observer", stranger, within: Patience.seconds) == [])
        let selection: [String: Value] = ["numbers": [7], "reason": "no such reason", "type": "StepCount"]
        for (instance, query) in [("observer", "quarantined"), ("uploader", "letters")] {
            let asked = selection.merging(["query": .string(query)]) { $1 }
            #expect(try client.ask(instance, asked, within: Patience.seconds)?.count == 1)
        }
        let isRepaired = eventually {
            for instance in ["observer", "uploader", "debouncer", "consolidator", "steps"] {
                client.command(instance, RepairRequest(id: "repair-1", action: "drop", selection).members.object ?? [:])
            }
            let beats = client.heartbeats
            return ["observer", "uploader", "debouncer", "consolidator", "steps"].allSatisfy {
                beats[$0]?.beat.details["mending"]?["id"] == "repair-1"
            }
        }
        #expect(isRepaired)
        client.command("debouncer", ["command": "expire", "task": "healthkit-sync"])
        client.command("debouncer", ["command": "sync", "id": "metric", "metric": "steps"])
        // The command takes effect once the debouncer knows the zones.
        let isTaken = eventually {
            client.command("debouncer", ["command": "sync", "id": "history", "history": 400])
            return client.heartbeats["debouncer"]?.beat.details["manual"]?["id"] == "history"
        }
        #expect(isTaken)
        swap(client)
    }

    /// Swaps in a plugin that stands by for a trial, and then a plugin that doesn't exist.
    private func swap(_ client: StackClient) {
        var wish: [String: Value] = [
            "command": "swap", "instance": "steps", "dryRun": true, "force": true,
            "within": 20,
        ]
        for (id, plugin, step) in [("one", "steps-python", "done"), ("another", "nowhere", "refused")] {
            wish["id"] = .string(id)
            wish["plugin"] = .string(plugin)
            let isOver = eventually {
                client.command("supervisor", wish)
                let swaps = client.heartbeats["supervisor"]?.beat.details["swaps"]?.array ?? []
                return swaps.contains { $0["id"].string == id && $0["step"].string == step }
            }
            #expect(isOver, "\(id)")
        }
    }

    private func askOfDays(_ client: StackClient) throws {
        let night = "HKCategoryTypeIdentifierSleepAnalysis"
        var query: [String: Value] = ["query": "completeness", "user": "me", "nights": .object([night: 18])]
        let known = try #require(try client.ask("observer", query, within: Patience.seconds)?.last)
        // A position before the first type.
        query["continue"] = known["continue"].isNull ? ["user": "", "type": ""] : known["continue"]
        #expect(try client.ask("observer", query, within: Patience.seconds)?.last?["types"].array?.isEmpty == false)
        let summaries: [String: Value] = ["query": "summaries", "user": "me", "from": "2000-01-01", "to": "2100-01-01"]
        #expect(try client.ask("observer", summaries, within: Patience.seconds)?.first?["summaries"].array?.count == 12)
        #expect(
            try client.ask("observer", ["query": "quarantine", "user": "me"], within: Patience.seconds)?.isEmpty
                == false)
        let entries = try client.ask("observer", ["query": "entries", "user": "me"], within: Patience.seconds)
        #expect(entries?.first?["events"] == [])
        let sources = try client.ask("observer", ["query": "sources", "user": "me"], within: Patience.seconds)
        #expect(sources?.first?["sources"].array?.isEmpty == false)
        let day: [String: Value] = ["query": "day", "user": "me", "day": 20_182, "topic": "daily."]
        #expect(try client.ask("consolidator", day, within: Patience.seconds)?.first?["rows"].array?.count == 1)
    }

    /// Sends the changes to time zones that the command line offers.
    private func changeZones(_ client: StackClient) throws {
        let zones = ZoneClient(client: client, observer: "observer")
        let noon = try #require(InstantText.parse("2025-04-01T12:00:00Z"))
        for change: ZoneClient.Change in [
            .set(zone: "Europe/Berlin"), .add(from: noon, zone: "America/New_York"), .remove(from: noon),
        ] {
            #expect(try zones.apply(change, user: "me").first?.zone == "Europe/Berlin")
        }
    }

    private var answered: Bool {
        let errors = messages.compactMap { $0.topic.hasPrefix("page.client-") ? $0.body["error"].string : nil }
        let rows = messages.filter { $0.topic == "pull.consolidator" && !$0.body["days"].isNull }
        let hasPushed = messages.contains { $0.topic == "control.debouncer" && $0.header.from == "ingest" }
        return hasPushed && errors.contains("reset") && errors.contains("refused") && !rows.isEmpty
            && messages.contains { $0.topic == "sync.steps" && !$0.body["replay"].isNull }
    }
}

extension StackClient {
    /// Asks a question with the given members, and returns the answer's bodies, both in the form that they have on the
    /// bus.
    fileprivate func ask(_ producer: String, _ members: [String: Value], within seconds: Double) throws -> [Value]? {
        try bodies(producer, Question(WireQuery(members: members)), within: seconds)
    }
}

/// A query with members in their wire form, whether or not this release knows it.
private struct WireQuery: Query {
    typealias Answer = EmptyPage
    static let name = ""

    var members: [String: Value]
    var name: String { members["query"]?.string ?? "" }

    init(members: [String: Value]) { self.members = members }
    init(from decoder: any Decoder) throws { members = try .init(from: decoder) }
    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
}
