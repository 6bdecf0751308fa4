import Configuration
import Control
import DeliveryKit
import Doctor
import Figures
import Foundation
import HealthModel
import Inspection
import Logging
import Monitoring
import Protocol
import Terminal
import TestSupport
import Testing

/// What commands know of a destination whose names no code has ever seen, from its manifest alone.
@Suite struct DeclaredDestinationTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let text: Value = ["type": "string"]
        let manifest: Value = [
            "name": "tide", "version": 1, "protocol": ["min": 1, "max": 1], "kind": "uploader", "executable": "tide",
            "entitlements": ["health"],
            "destination": [
                "kind": "server", "word": "time series", "place": ["where", "bucket"], "variable": "TIDE_WHERE",
                "keeps": "latest", "verified": false, "people": "who",
                "token": ["option": "secret", "variable": "TIDE_SECRET", "word": "secret"],
            ],
            "configuration": [
                "type": "object",
                "properties": [
                    "where": text, "secret": text, "bucket": ["type": "string", "default": "health"],
                    "plainHTTP": ["type": "boolean", "default": false],
                    "who": ["type": "object", "default": [:], "additionalProperties": text],
                ],
            ],
        ]
        try FileManager.default.createDirectory(atPath: folder.path + "/tide", withIntermediateDirectories: true)
        _ = try folder.file("tide/plugin.json", manifest.json())
    }

    private func stack(_ options: String...) throws -> Stack {
        let instances = options.enumerated().map {
            "\"tide\($0)\": {\"plugin\": \"\(folder.path)/tide\", \"configuration\": {\($1)}}"
        }
        return try Stack(
            state: folder.path + "/s",
            configurationFile: folder.file(
                "stack.json", "{\"instances\": {\(instances.joined(separator: ", "))}}"))
    }

    @Test func itsPlaceIsTheOneThatItsOptionsName() throws {
        let stack = try stack(#""where": "https://t.example.org""#, "")
        let places = stack.destinations.map { stack.place(of: $0) }
        #expect(places.contains("https://t.example.org") && places.contains("tide"))
        #expect(
            stack.destinations.map { stack.place(of: $0, reported: "https://u.example.org") }.count {
                $0.contains("u.")
            }
                == 2)
    }

    @Test func twoInOnePlaceAreNoticed() throws {
        func shared(_ second: String) throws -> [Finding] {
            let stack = try stack(#""where": "https://t.example.org/""#, second)
            return StackStructure(stack: stack.configuration).findings.filter { $0.what.contains("the same place") }
        }
        let found = try #require(try shared(#""where": "https://t.example.org""#).first)
        #expect(found.key == "instances.tide1.configuration.bucket")
        #expect(found.what.hasSuffix("same place as tide0: bucket 'health' at https://t.example.org"))
        #expect(try shared(#""where": "https://t.example.org", "bucket": "other""#).isEmpty)
    }

    /// The stack's own token, and what is said of backends, are none of its business.
    @Test func itIsntTakenForABackend() throws {
        let who = #", "who": {"me": "7"}"#
        let stack = try stack(
            #""where": "https://t.example.org/api/v1""# + who, #""where": "https://u.example.org""# + who)
        #expect(stack.configuration.deliveringToBackends.map(\.name) == ["uploader"])
        #expect(StackStructure(stack: stack.configuration).findings == [])
        #expect(!StackGraph(stack.configuration).edges.contains { $0.from == "tide0" && $0.topic == "HTTP" })
    }

    @Test func itsVariablesAreKnown() throws {
        let stack = try stack("", #""where": "https://t.example.org""#)
        let environment = ["TIDE_WHERE": "https://me:confidential@v.example.org", "TIDE_SECRET": "confidential"]
        let report = try ConfigurationReport(
            stack, given: (state: .standard, config: .standard), environment: environment)
        var values: [String: Value] = [:]
        for setting in try Value(json: report.json.utf8).array ?? [] where setting["from"]["kind"] == "environment" {
            if let key = setting["key"].string { values[key] = setting["value"] }
        }
        #expect(values["tide0.where"] == "https://me:hidden@v.example.org" && values["tide1.where"] == nil)
        #expect(values["TIDE_SECRET"] != nil && !report.json.contains("confidential"))
    }

    @Test func peopleReadItsWord() throws {
        let stack = try stack("")
        let destination = try #require(stack.configuration.instance("tide0"))
        #expect(DeadLetterReport.refuser(destination) == "the time series")
        var seen = Examination(stack.configuration, state: "/s", now: Instant(seconds: 1_790_000_000), beats: [:])
        var beat = Heartbeat(
            instance: "tide0", plugin: "tide", phase: .ready, pid: 7,
            head: StoreHead(store: "s", generation: "g", sequence: 100), frontier: ["observer": 100],
            lastCommit: seen.now, configuration: destination.fingerprint)
        beat.details = HeartbeatDetails(
            UploaderDetails(
                deadLetters: 2, droppedLetters: 0, delivered: [:], lastDelivered: [:], delays: [:],
                delayBuckets: .init(bounds: [], metrics: [:]), answers: .init(created: 0, updated: 0, known: 0),
                blocked: nil, waitsUntil: nil, held: 0,
                backend: .init(
                    acceptance: .trust, isCompared: true, compared: nil, result: .redelivered, missing: nil, check: nil,
                    why: nil),
                paused: false, path: nil, waiting: 0))
        (seen.beats["tide0"], seen.held) = ((beat, 0.2), ["tide0"])
        let said = Diagnosis.findings(seen).list.filter { $0.subject == "tide0" }.map { "\($0.what); \($0.remedy)" }
        for part in ["the time series refused 2", "the time series had lost", "trusts the time series"] {
            #expect(said.contains { $0.contains(part) }, "\(said)")
        }
        #expect(!said.contains { $0.contains("backend") })
        #expect(
            StatusReport.backendText(["acceptance": "trust"], word: "time series") { _ in "" }
                == "Time series: doesn't say who it is, so it is trusted.\n")
    }

    /// Advice names only options that the plugin has.
    @Test func adviceOnRefusalsIsForItsOptions() throws {
        let stack = try stack("")
        let destination = try #require(stack.configuration.instance("tide0"))
        #expect(!destination.manifest.declares(DeliverySettings.trust))
        #expect(try #require(stack.configuration.instance("uploader")).manifest.declares(DeliverySettings.trust))
    }

    @Test func whatItDoesntKeepIsntVerified() throws {
        let error = #expect(throws: Failure.self) { try Verification(stack(""), of: "tide0", .init()) }
        #expect(error?.message == "'tide0' can't be verified: the time series doesn't say what it keeps")
    }

    @Test func itsTokenIsInTheFileOrTheVariable() throws {
        let file = try folder.file("secret", "from the file\n")
        let stack = try stack("\"secret\": \"\(file)\"", "")
        let environment = ["TIDE_SECRET": "from the variable"]
        func source(_ name: String, _ environment: [String: String]) throws -> TokenSource? {
            try .declared(by: #require(stack.configuration.instance(name)), environment: environment)
        }
        #expect(try source("tide0", environment)?.current(refresh: false) == "from the file")
        #expect(try source("tide1", environment)?.current(refresh: false) == "from the variable")
        #expect(try source("tide1", [:]) == nil)
        let remedies = try ["tide0", "tide1"].map { try source($0, environment)?.place.remedy }
        #expect(remedies[0]?.contains(file) == true && remedies[1]?.contains("TIDE_SECRET") == true)
    }

    @Test(arguments: [
        (#""where": "http://t.example.org", "who": {"me": "7"}"#, "where", "in the clear"),
        (#""where": "https://t.example.org", "who": {"me": "7", "anna": "7"}"#, "who", "one identifier"),
        (#""where": "https://t.example.org""#, "who", "a second stack"),
    ])
    func whatItsOptionsRiskIsNoticed(_ options: String, _ key: String, _ words: String) throws {
        let found = try StackStructure(stack: stack(options).configuration).findings
        #expect(found.map(\.key) == ["instances.tide0.configuration.\(key)"])
        #expect(found.first?.what.contains(words) == true, "\(found)")
    }

    /// What plugins declare is nowhere else: not their variables, not the option for people. (`DestinationDeclaration`
    /// knows them, for manifests of earlier releases.)
    @Test func namesOfDestinationsAreInTheirFoldersOnly() throws {
        let catalog = try PluginCatalog(folder: Checkout.root.appending(path: "plugins").path, programs: "/nowhere")
        let declared = catalog.manifests.values.compactMap(\.destination).filter { $0.kind != .backend }
        let names = Set(declared.flatMap { [$0.variable, $0.token?.variable, $0.people] }.compactMap { $0 })
        #expect(names.count > 3)
        for source in try Checkout.sources(in: "Sources") where source.name != "DestinationDeclaration.swift" {
            for name in names { #expect(!source.contains("\"\(name)\""), "\(source.name)") }
        }
    }
}
