import Configuration
import Doctor
import Foundation
import HealthModel
import Inspection
import TestSupport
import Testing

/// What is reported about a configuration that can be read but is still wrong.
@Suite struct StackStructureTests {
    private func findings(_ overlay: String) throws -> [Finding] {
        let file = FileManager.default.temporaryDirectory.appending(path: "structure-\(UUID().uuidString).json")
        try overlay.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let catalog = try PluginCatalog(
            folder: Checkout.root.appending(path: "plugins").path, programs: "/nowhere")
        return StackStructure(stack: try StackConfiguration(path: file.path, catalog: catalog)).findings
    }

    private let shipped = Checkout.root.appending(path: "plugins")

    /// A plugin whose manifest differs from that of a shipped one.
    /// - Returns: its folder.
    private func plugin(
        _ name: String, like other: String, _ changes: [String: Value], _ folder: TemporaryFolder
    ) throws -> String {
        let file = shipped.appending(path: "\(other)/plugin.json")
        var manifest = try Value(json: Data(contentsOf: file)).object ?? [:]
        manifest["name"] = .string(name)
        manifest.merge(changes) { $1 }
        let place = folder.path + "/" + name
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try Value.object(manifest).json().write(toFile: place + "/plugin.json", atomically: true, encoding: .utf8)
        return place
    }

    @Test func aThresholdNamesAFigure() throws {
        func list(_ figure: String) throws -> [Finding] {
            try findings(
                #"{"instances": {"consolidator": {"configuration": {"significantChange": {"\#(figure)": 50}}}}}"#)
        }
        #expect(try list("steps") == [])
        let found = try list("stpes")
        #expect(
            found.count == 1 && found[0].severity == .warning && found[0].what.contains("no figure is called 'stpes'"))
        #expect(found[0].remedy == "did you mean 'steps'?")
    }

    /// The backend is filled by an uploader that names it, or by another one that names no backend.
    @Test(arguments: [
        #"{"instances": {"uploader": {"configuration": {"url": "http://localhost:8787/"}}}}"#,
        #"{"instances": {"mine": {"plugin": "uploader", "configuration": {"url": "https://h.example.org", "tokenFile": "/t"}}}}"#,
        #"{"instances": {"uploader": null}}"#,
    ])
    func aBackendThatGetsSomethingIsFine(_ overlay: String) throws {
        #expect(try !findings(overlay).contains { $0.what.contains("gets nothing") })
    }

    /// These would keep a destination, and with it the stack, from starting; each wrong name is reported.
    @Test func whatADestinationIsToGetIsChecked() throws {
        func found(_ plugin: String, _ options: String) throws -> [String] {
            let fhir = #"{"instances": {"mine": {"plugin": "\#(plugin)", "configuration": {\#(options)}}}}"#
            return try findings(fhir).filter { $0.key?.hasPrefix("instances.mine.configuration") == true }.map {
                "\($0.severity) \($0.key?.split(separator: ".").last ?? "") \($0.what.prefix(12)) \($0.remedy.prefix(12))"
            }
        }
        let server = #""server": "https://h.example.org", "patients": {"me": "a|b"}"#
        #expect(try found("fhir", server + #", "types": ["steps", "HKQuantityTypeIdentifierStepCount"]"#) == [])
        #expect(
            try found("fhir", server + #", "types": ["stepz", "daily", "hydration"], "deliverSince": "x""#) == [
                "error types[0] is neither a correct it i", "error types[2] is neither a correct it i",
                "error deliverSince is neither a correct it i",
            ])
        #expect(
            try found("fhir", server + #", "types": ["HKQuantityTypeIdentifierStepCuont"]"#)
                == ["warning types[0] isn't a type did you mean"])
        #expect(try found("files", #""types": ["stepz"]"#).map { $0.prefix(25) } == ["warning types[0] isn't a "])
    }

    @Test func theShippedStackIsInOrder() throws { #expect(try findings("{}") == []) }

    @Test(arguments: [
        (#"{"instances": {"observer": null}}"#, Finding.Severity.error, "has no observer"),
        (#"{"instances": {"debouncer": null}}"#, .error, "has no debouncer"),
        (#"{"instances": {"consolidator": null}}"#, .warning, "has no consolidator"),
        (#"{"instances": {"consolidator": null}}"#, .error, "can't start: it shows days"),
        (#"{"instances": {"uploader": null}}"#, .warning, "has no uploader"),
        (#"{"instances": {"hub": null}}"#, .error, "has no hub"),
        (#"{"instances": {"generic": null}}"#, .warning, "no handler for the remaining types"),
        (#"{"instances": {"backend": null}}"#, .error, "is needed"),
        (#"{"instances": {"walk": {"plugin": "steps"}}}"#, .error, "and so does steps"),
        (#"{"instances": {"rest": {"plugin": "generic"}}}"#, .error, "every type that nobody names"),
        (#"{"instances": {"consolidator": null}}"#, .warning, "produces figures.steps, which no process"),
        (#"{"instances": {"debouncer": null}}"#, .warning, "consumes sync.steps, which no process"),
        (
            #"{"instances": {"steps": {"configuration": {"sourceOrder": {"HKQuantityTypeIdentifierStepCont": []}}}}}"#,
            .warning, "isn't a type this release knows"
        ),
        (
            #"{"instances": {"uploader": {"configuration": {"url": "https://h.example.org"}}}}"#, .warning,
            "gets nothing, so a query finds nothing there: uploader delivers to https://h.example.org"
        ),
        (
            #"{"instances": {"uploader": {"configuration": {"url": "https://h.example.org/api/v1/"}}}}"#, .warning,
            "contains /api/v1, which the uploader adds to it again"
        ),
        (#"{"monitoring": {"port": 8787}}"#, .error, "is the backend's port"),
        (
            #"{"instances": {"ingest": {"configuration": {"host": "0.0.0.0"}}}}"#, .error,
            "would listen at 0.0.0.0 without TLS, where anyone on the network can read the tokens"
        ),
        (
            #"{"instances": {"dashboard": {"configuration": {"host": "0.0.0.0"}}}}"#, .error,
            "would listen at 0.0.0.0, where anyone on the network can read the data"
        ),
        (
            #"{"instances": {"a": {"plugin": "files", "configuration": {"folder": "/x"}}, "b": {"plugin": "files", "configuration": {"folder": "/x/"}}}}"#,
            .warning, "delivers to the same place as a"
        ),
        (
            #"{"instances": {"a": {"plugin": "home-assistant"}, "b": {"plugin": "home-assistant", "configuration": {"broker": "mqtt://localhost/", "people": ["anna"]}}}}"#,
            .warning, "delivers to the same place as a: topic 'healthbus' at mqtt://localhost/"
        ),
        (
            #"{"instances": {"a": {"plugin": "fhir", "configuration": {"server": "https://f.example.org/r4"}}, "b": {"plugin": "fhir", "configuration": {"server": "https://f.example.org/r4/"}}}}"#,
            .warning, "delivers to the same place as a: https://f.example.org/r4/"
        ),
        (#"{"instances": {"second": {"plugin": "uploader"}}}"#, .warning, "delivers to the same place as second"),
        (
            #"{"instances": {"second": {"plugin": "uploader", "configuration": {"url": "https://h.example.org"}}}}"#,
            .error, "the token of the stack's own backend goes to no other"
        ),
        (
            #"{"instances": {"fhir": {"plugin": "fhir", "configuration": {"server": "http://h.example.org/fhir"}}}}"#,
            .error, "in the clear to another machine"
        ),
        (
            #"{"instances": {"fhir": {"plugin": "fhir", "configuration": {"server": "https://h.example.org/fhir"}}}}"#,
            .warning, "a user of the same name would overwrite"
        ),
        (
            #"{"instances": {"fhir": {"plugin": "fhir", "configuration": {"patients": {"a": "s|1", "b": "s|1"}}}}}"#,
            .error, "gives two users one identifier"
        ),
        (
            #"{"instances": {"a": {"plugin": "files", "configuration": {"patients": {"a": "1", "b": "1"}}}}}"#, .error,
            "gives two users one identifier"
        ),
        (#"{"instances": {"ingest": {"configuration": {"certificateFile": "/c"}}}}"#, .error, "without the other"),
        (#"{"instances": {"ingest": {"configuration": {"keyFile": "/k"}}}}"#, .error, "without the other"),
    ])
    func whatIsntInOrderIsReported(_ overlay: String, _ severity: Finding.Severity, _ words: String) throws {
        let list = try findings(overlay)
        #expect(list.contains { $0.severity == severity && $0.what.contains(words) }, "\(list)")
    }

    /// Of two figures with the same name, the one whose handler's name comes first is in summaries, and the one that is
    /// reported never belongs to a shipped plugin.
    @Test(arguments: [("aaa", "only aaa's"), ("zzz", "only steps's")])
    func figuresOfOneNameAreReported(_ name: String, _ winner: String) throws {
        let folder = try TemporaryFolder()
        let manifest = #"""
            { "name": "NAME", "version": 1, "protocol": { "min": 1, "max": 1 }, "kind": "handler", "executable": "x",
              "reads": ["HKQuantityTypeIdentifierStepCount"], "figures": [{ "name": "steps" }],
              "entitlements": ["health"] }
            """#.replacingOccurrences(of: "NAME", with: name)
        try manifest.write(toFile: folder.path + "/plugin.json", atomically: true, encoding: .utf8)
        let list = try findings(#"{"instances": {"\#(name)": {"plugin": "\#(folder.path)"}}}"#)
        let found = list.filter { $0.what.contains("declares the figure 'steps', and so does steps: ") }
        #expect(found.count == 1 && found.first?.key == "instances.\(name)", "\(list)")
        #expect(found.first?.severity == .warning && found.first?.what.contains(winner) == true)
        #expect(found.first?.remedy.contains("another name") == true)
    }

    /// Claims in a manifest that neither the observer nor the hub accepts.
    @Test(
        arguments: [
            (["entitlements": []], Finding.Severity.error, "lacks the entitlement health"),
            (["produces": ["figures.steps", "daily.summary"]], .warning, "daily.summary, which the hub doesn't let"),
            (["consumes": ["sync.steps", "observed.*"]], .warning, "observed.*, which the hub doesn't let"),
        ] as [([String: Value], Finding.Severity, String)])
    func aManifestIsComparedWithTheRightsOfItsKey(
        _ changes: [String: Value], _ severity: Finding.Severity, _ words: String
    ) throws {
        let folder = try TemporaryFolder()
        let place = try plugin("mine", like: "steps", changes, folder)
        let catalog = try PluginCatalog(folder: shipped.path, programs: "/nowhere")
        let stack = try StackConfiguration(path: nil, choices: ["steps": .plugin(place)], catalog: catalog)
        let list = StackStructure(stack: stack).findings
        #expect(list.contains { $0.severity == severity && $0.what.contains(words) }, "\(list)")
    }

    @Test func aDebouncerThatCanNotBeRegisteredIsFound() throws {
        let folder = try TemporaryFolder()
        let place = try plugin("mine", like: "debouncer", ["entitlements": ["health"]], folder)
        let list = try findings(#"{"instances": {"debouncer": {"plugin": "\#(place)"}}}"#)
        let found = try #require(
            list.first { $0.what.contains("can't be registered for background delivery") }, "\(list)")
        #expect(found.severity == .error && found.remedy.contains(#"add "background-delivery" to "entitlements""#))
        #expect(!(try findings("{}").contains { $0.what.contains("can't be registered") }))
    }

    /// Figures travel under the instance's name, whatever the plugin is called.
    @Test func figuresAreExpectedUnderTheInstancesName() throws {
        let folder = try TemporaryFolder()
        let place = try plugin("mine", like: "notify", ["consumes": ["figures.steps-python", "figures.steps"]], folder)
        let mine = #"{"plugin": "\#(place)", "configuration": {"url": "https://h.example.org"}}"#
        let list = try findings(#"{"instances": {"steps": {"plugin": "steps-python"}, "mine": \#(mine)}}"#)
        #expect(list.contains { $0.what.contains("consumes figures.steps-python, which no process") }, "\(list)")
        #expect(!list.contains { $0.what.contains("consumes figures.steps, which no process") }, "\(list)")
    }

    /// So do events, and status says how far behind them their consumers are.
    @Test func changesAreAnnouncedUnderTheInstancesName() throws {
        let folder = try TemporaryFolder()
        let place = try plugin("mine", like: "sleep", ["produces": ["figures.mine", "events.mine"]], folder)
        let catalog = try PluginCatalog(folder: shipped.path, programs: "/nowhere")
        let configuration = try StackConfiguration(path: nil, choices: ["sleep": .plugin(place)], catalog: catalog)
        let stack = try Stack(
            state: StateFolder(path: "/nowhere"), configuration: configuration, configurationFile: nil)
        #expect(stack.topic(of: "sleep") == "events.sleep" && stack.topic(of: "observer") == "observed.*")
    }

    @Test func severalDestinationsAreInOrder() throws {
        let mine = #"{"plugin": "uploader", "configuration": {"url": "https://h.example.org", "tokenFile": "/t"}}"#
        #expect(try findings(#"{"instances": {"mine": \#(mine), "files": {"plugin": "files"}}}"#) == [])
        let other = #"{"plugin": "home-assistant", "configuration": {"topic": "other"}}"#
        #expect(try findings(#"{"instances": {"one": {"plugin": "home-assistant"}, "two": \#(other)}}"#) == [])
        // No backend is needed to deliver to files.
        let files = #"{"instances": {"backend": null, "uploader": null, "files": {"plugin": "files"}}}"#
        #expect(try findings(files) == [])
    }

    @Test func aFHIRServerIsInOrder() throws {
        for options in [
            #"{"server": "http://127.0.0.1:8080/fhir"}"#, "{}",
            #"{"server": "https://h.example.org/fhir", "patients": {"me": "s|1", "anna": "t|1"}}"#,
            #"{"server": "http://h.example.org/fhir", "plainHTTP": true, "patients": {"me": "s|1"}}"#,
        ] {
            let stack = #"{"instances": {"fhir": {"plugin": "fhir", "configuration": \#(options)}}}"#
            #expect(try findings(stack) == [], "\(options)")
        }
    }

    @Test func whereAnIngestMayListenIsInOrder() throws {
        for options in [
            #"{"host": "::1"}"#, #"{"host": "0.0.0.0", "plainHTTP": true}"#,
            #"{"host": "0.0.0.0", "certificateFile": "/c", "keyFile": "/k"}"#,
        ] {
            #expect(try findings(#"{"instances": {"ingest": {"configuration": \#(options)}}}"#) == [], "\(options)")
        }
        #expect(try findings(#"{"instances": {"ingest": null}}"#) == [])
    }

    /// An instance's topics have its own name, whatever its plugin is called.
    @Test func anInstanceOfAnotherNameIsInOrder() throws {
        #expect(try findings(#"{"instances": {"steps": null, "walk": {"plugin": "steps"}}}"#) == [])
        #expect(try findings(#"{"instances": {"steps": {"plugin": "steps-python"}}}"#) == [])
        let order = #"{"sourceOrder": {"HKQuantityTypeIdentifierStepCount": ["Watch"]}}"#
        #expect(try findings(#"{"instances": {"steps": {"configuration": \#(order)}}}"#) == [])
    }
}
