import BackgroundDelivery
import Configuration
import Foundation
import HealthModel
import Processes
import TestSupport
import Testing

@Suite struct ConfigurationTests {
    private let folder: TemporaryFolder
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    init() throws { folder = try TemporaryFolder() }

    private func catalog() throws -> PluginCatalog {
        try PluginCatalog(folder: Self.root + "/plugins", programs: "/nowhere")
    }

    private func stack(_ overlay: String) throws -> StackConfiguration {
        let path = folder.path + "/stack.json"
        try overlay.write(toFile: path, atomically: true, encoding: .utf8)
        return try StackConfiguration(path: path, catalog: catalog())
    }

    private func refusal(_ overlay: String) throws -> ConfigurationError? {
        do {
            _ = try stack(overlay)
            return nil
        } catch let error as ConfigurationError {
            return error
        }
    }

    @Test func theDefaultIsReadFromTheFileThatIsShipped() throws {
        let file = URL(fileURLWithPath: Self.root + "/configs/default.json")
        let shipped = try Value(json: Data(contentsOf: file), comments: true)
        let names = try StackConfiguration(path: nil, catalog: catalog()).instances.map(\.name).sorted()
        #expect(names == (shipped["instances"].object ?? [:]).keys.sorted())
        // This also holds if only the manifests are elsewhere; if there are none, the error says what is missing.
        let away = folder.path + "/plugins"
        try FileManager.default.copyItem(atPath: Self.root + "/plugins", toPath: away)
        let beside = try PluginCatalog(folder: away, programs: Self.root)
        #expect(try StackConfiguration(path: nil, catalog: beside).instances.map(\.name).sorted() == names)
        let alone = try PluginCatalog(folder: away, programs: "/nowhere")
        let error = #expect(throws: ConfigurationError.self) { try StackConfiguration(path: nil, catalog: alone) }
        #expect(error?.file == "/nowhere/configs/default.json")
    }

    @Test func thePublishedSchemaIsTheOneThatManifestsAreCheckedAgainst() throws {
        let published = try String(contentsOfFile: Self.root + "/docs/plugin.schema.json", encoding: .utf8)
        #expect(published == ManifestSchema.text)
        let kinds = try Value(json: published.utf8)["properties"]["kind"]["enum"].array ?? []
        #expect(Set(kinds.compactMap(\.string)) == Set(Manifest.Kind.allCases.map(\.rawValue)))
        // Every member of a manifest is in the schema, and every member in the schema has a description.
        let properties = try #require(try Value(json: published.utf8)["properties"].object)
        let page = try String(contentsOfFile: Self.root + "/docs/plugins.md", encoding: .utf8)
        for member in properties.keys where member != "$schema" { #expect(page.contains("`\(member)`"), "\(member)") }
    }

    @Test func everyShippedConfigurationLoads() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.root + "/configs")
        #expect(names.contains("default.json"))
        for name in names where name.hasSuffix(".json") {
            #expect(throws: Never.self) {
                try StackConfiguration(path: Self.root + "/configs/" + name, catalog: catalog())
            }
        }
    }

    /// A command line takes precedence over a container's environment.
    @Test func theFileThatTheEnvironmentNames() {
        #expect(StackConfiguration.file(given: nil, environment: [:]) == nil)
        #expect(StackConfiguration.file(given: nil, environment: ["HEALTHBUS_CONFIG": ""]) == nil)
        #expect(StackConfiguration.file(given: nil, environment: ["HEALTHBUS_CONFIG": "/a.json"]) == "/a.json")
        #expect(StackConfiguration.file(given: "/b.json", environment: ["HEALTHBUS_CONFIG": "/a.json"]) == "/b.json")
    }

    @Test func aManifestsRestartIsThePolicysMode() throws {
        let path = folder.path + "/plugin.json"
        for (text, mode) in [
            ("", RestartPolicy.Mode.always), (#","restart":"on-failure""#, .onFailure),
            (#","restart":"never""#, .never),
        ] {
            try """
            {"name":"x","version":1,"protocol":{"min":1,"max":1},"kind":"handler","executable":"x"\(text)}
            """.write(toFile: path, atomically: true, encoding: .utf8)
            #expect(try Manifest(file: path).restart == mode)
        }
    }

    /// An instance that delivers elsewhere never slows down the rest.
    @Test func onlyTheOtherDestinationsHaveALowPriority() throws {
        let low = try catalog().manifests.values.filter { $0.priority == .low }.map(\.name)
        #expect(low.sorted() == ["fhir", "files", "home-assistant", "postgres"])
    }

    @Test func everyManifestLoadsAndItsDefaultsSatisfyIt() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.root + "/plugins")
            .filter { FileManager.default.fileExists(atPath: Self.root + "/plugins/\($0)/plugin.json") }
        #expect(folders.count >= 13)
        for name in folders {
            let manifest = try Manifest(file: Self.root + "/plugins/\(name)/plugin.json")
            #expect(manifest.name == name && manifest.executable == "healthbus-\(name)")
            let check = SchemaCheck(file: manifest.file)
            let defaults = try check.resolve(.null, schema: manifest.configuration)
            #expect(try check.resolve(defaults, schema: manifest.configuration) == defaults)
        }
    }

    @Test func aTypeHasOneHandler() throws {
        let handlers = try StackConfiguration(path: nil, catalog: catalog()).handlers
        let types = handlers.flatMap(\.manifest.types).filter { $0 != "*" }
        #expect(Set(types).count == types.count)
        #expect(handlers.count { $0.manifest.types.contains("*") } == 1)
    }

    @Test func theOverlayChangesWhatItNames() throws {
        let stack = try stack(
            """
            // a comment
            { "instances": { "debouncer": { "configuration": { "windowSeconds": 0 } }, "workouts": null,
                             "second": { "plugin": "uploader", "configuration": { "url": "https://example.org" } } } }
            """)
        #expect(stack.instance("debouncer")?.configuration["windowSeconds"] == 0)
        // The schema's default applies, since no value is given.
        #expect(stack.instance("debouncer")?.configuration["maximumWaitSeconds"] == 5)
        #expect(stack.instance("workouts") == nil)
        #expect(stack.instance("second")?.manifest.kind == .uploader)
        #expect(stack.instance("steps") != nil)
        #expect(stack.instances.first?.name == "hub")
        #expect(stack.bus == .standard)
    }

    /// A plugin needn't be copied into the folder of the shipped ones.
    @Test(arguments: ["./mine", "mine/", "./mine/plugin.json", "ABSOLUTE"])
    func aPathNamesAPluginThatLiesElsewhere(_ path: String) throws {
        let mine = folder.path + "/mine"
        try FileManager.default.createDirectory(atPath: mine, withIntermediateDirectories: true)
        try """
        { "name": "mine", "version": 1, "protocol": { "min": 1, "max": 1 }, "kind": "handler", "executable": "./bin/mine" }
        """.write(toFile: mine + "/plugin.json", atomically: true, encoding: .utf8)
        let plugin = path == "ABSOLUTE" ? mine : path
        let stack = try stack(#"{ "instances": { "steps": { "plugin": "\#(plugin)" } } }"#)
        let manifest = try #require(stack.instance("steps")?.manifest)
        #expect(manifest.name == "mine" && manifest.file == mine + "/plugin.json")
        #expect(try catalog().program(manifest) == mine + "/bin/mine")
        #expect(stack.instance("body").map { $0.manifest.folder } == Self.root + "/plugins/body")
    }

    @Test func aPluginThatDeclaresNoOptionsTakesNone() throws {
        let mine = folder.path + "/mine"
        try FileManager.default.createDirectory(atPath: mine, withIntermediateDirectories: true)
        try """
        { "name": "mine", "version": 1, "protocol": { "min": 1, "max": 1 }, "kind": "handler", "executable": "./mine" }
        """.write(toFile: mine + "/plugin.json", atomically: true, encoding: .utf8)
        let error = try #require(
            try refusal(#"{ "instances": { "m": { "plugin": "./mine", "configuration": { "depth": 1 } } } }"#))
        #expect(error.description.contains("depth' isn't known; there are no options here"), "\(error)")
    }

    @Test func aPathWithoutAPluginIsNamed() throws {
        let error = try #require(try refusal(#"{ "instances": { "steps": { "plugin": "./none" } } }"#))
        #expect(
            error.description
                == "\(folder.path)/stack.json:1: 'instances.steps.plugin' names ./none, but there is no \(folder.path)/none/plugin.json"
        )
    }

    @Test(arguments: [
        (#"{ "instance": {} }"#, "instance"),
        (#"{ "instances": { "debouncer": { "configuration": { "windowSecond": 1 } } } }"#, "windowSecond"),
        (#"{ "instances": { "debouncer": { "configuration": { "windowSeconds": -1 } } } }"#, "at least 0"),
        (#"{ "instances": { "debouncer": { "configuration": { "windowSeconds": "1" } } } }"#, "must be a number"),
        (#"{ "instances": { "backend": { "configuration": { "port": 1.5 } } } }"#, "whole number"),
        (#"{ "instances": { "backend": { "configuration": { "port": 70000 } } } }"#, "at most 65535"),
        (#"{ "instances": { "steps": { "plugn": "steps" } } }"#, "plugn"),
        (#"{ "instances": { "steps": { "plugin": "walking" } } }"#, "must be one of backend, body"),
        (#"{ "instances": { "setps": { "configuration": {} } } }"#, "did you mean the instance 'steps'?"),
        (#"{ "instances": { "sleeep": null } }"#, "there is no instance 'sleeep'; did you mean 'sleep'?"),
        (#"{ "instances": { "elsewhere": null } }"#, "there is no instance 'elsewhere'; the default has backend, body"),
        (#"{ "instances": { "elsewhere": { "configuration": {} } } }"#, "must be one of backend, body"),
        (#"{ "instances": { "steps": { "plugin": "STEPS" } } }"#, "did you mean 'steps'?"),
        (#"{ "instances": { "steps": 5 } }"#, "'instances.steps' must be an object"),
        (
            #"{ "instances": { "debouncer": { "configuration": { "WINDOWSECONDS": 1 } } } }"#,
            "did you mean 'windowSeconds'?"
        ),
        (#"{ "instances": { "Steps!": { "plugin": "steps" } } }"#, "a-z, 0-9"),
        (#"{ "instances": { "second": { "plugin": "observer" } } }"#, "more than one observer"),
        (
            #"{ "instances": { "observer": { "configuration": { "delivery": { "floors": { "StepCount": "hourly" } } } } } }"#,
            "delivery.floors.StepCount' isn't a HealthKit type identifier; the nearest is HKQuantityTypeIdentifierStepCount"
        ),
        (
            #"{ "instances": { "observer": { "configuration": { "delivery": { "floors": { "HKQuantityTypeIdentifierStepCont": "hourly" } } } } } }"#,
            "the nearest is HKQuantityTypeIdentifierStepCount"
        ),
        (
            #"{ "instances": { "observer": { "configuration": { "delivery": { "floor": "often" } } } } }"#,
            #"one of "immediate", "hourly", "daily", "weekly""#
        ),
        (
            #"{ "instances": { "observer": { "configuration": { "delivery": { "wakesPerHour": -1 } } } } }"#,
            "delivery.wakesPerHour' must be at least 0"
        ),
        (#"{ "bus": { "publish": "tcp://1.2.3.4:5" } }"#, "publish"),
        (#"{ "bus": { "Seald": true } }"#, "did you mean 'sealed'?"),
        (#"{ "bus": "x" }"#, "must be an object"),
        ("{", "isn't JSON"),
    ])
    func mistakesAreNamed(_ overlay: String, _ words: String) throws {
        let error = try #require(try refusal(overlay))
        #expect(error.file == folder.path + "/stack.json")
        #expect(error.description.contains(words), "\(error)")
    }

    @Test(arguments: [
        (#""entitlements": ["helth"]"#, "entitlements[0]", #""health", "background-delivery""#),
        (
            #""backgroundModes": ["processing", "audio"]"#, "backgroundModes[1]",
            #""processing", "fetch", "remote-notification""#
        ),
        (#""permittedTasks": ["healthkit-sync"]"#, "permittedTasks", "others host no tasks"),
        (#""family": "daily""#, "family", "not daily"),
        (#""figures": [{ "unit": "L" }]"#, "figures[0].name", "is missing"),
        (
            #""figures": [{ "name": "x", "explain": { "names": ["x"], "type": "T", "rule": "sum" } }]"#,
            "figures[0].explain.rule", "total"
        ),
        (#""triggers": ["24:00"]"#, "triggers[0]", "00:01"),
        (#""triggers": ["StepCount"]"#, "triggers[0]", "type identifiers"),
        (#""entitlements": "health""#, "entitlements", "must be a list"),
    ])
    func rightsThatThereArentAreRefused(_ member: String, _ key: String, _ allowed: String) throws {
        let path = folder.path + "/plugin.json"
        try """
        { "name": "x", "version": 1, "protocol": { "min": 1, "max": 1 }, "kind": "handler", "executable": "x", \(member) }
        """.write(toFile: path, atomically: true, encoding: .utf8)
        let error = #expect(throws: ConfigurationError.self) { try Manifest(file: path) }
        #expect(error?.file == path && error?.key == key && error?.reason.contains(allowed) == true)
    }

    @Test func theShippedRightsAreThoseOfTheirPlugins() throws {
        let plugins = try catalog().manifests
        #expect(plugins["debouncer"]?.registrationRefusal == nil)
        #expect(plugins["uploader"]?.registrationRefusal?.code == .authorizationDenied)
        #expect(
            plugins["sleep"]?.rights.triggers == [
                .type("HKCategoryTypeIdentifierSleepAnalysis"), .type("HKQuantityTypeIdentifierStepCount"),
                .time(minute: 1),
            ])
        let consolidator = try #require(plugins["consolidator"])
        #expect(consolidator.rights.permittedTasks == ["consolidated-daily"])
        let error = #expect(throws: ConfigurationError.self) { try consolidator.requireTasks(among: ["refresh"]) }
        #expect(error?.description.contains("'consolidated-daily', which isn't one of refresh") == true)
    }

    @Test func aFileThatIsNotThereIsNamed() throws {
        let none = #expect(throws: ConfigurationError.self) {
            try StackConfiguration(path: folder.path + "/none.json", catalog: catalog())
        }
        #expect(none?.description == folder.path + "/none.json: there is no such file; check the path")
        let unreadable = #expect(throws: ConfigurationError.self) {
            try StackConfiguration(path: folder.path, catalog: catalog())
        }
        #expect(unreadable?.reason.contains("can't be read") == true)
    }

    /// A path means the same wherever a program is started: it is relative to the configuration's folder.
    @Test func pathsAreRelativeToTheConfiguration() throws {
        let folder = try TemporaryFolder()
        let text = """
            { "bus": { "keys": "keys" }, "instances": {
                "backend": { "configuration": { "tokenFile": "token", "postgresUrlFile": "./pg/../url" } },
                "uploader": { "configuration": { "url": "http://127.0.0.1:1", "tokenFile": "../token" } },
                "observer": { "configuration": { "inbox": "inbox" } },
                "ingest": { "configuration": {
                    "certificateFile": "/etc/c.pem", "keyFile": "~/k.pem", "followTokenFile": "f" } } } }
            """
        try FileManager.default.createDirectory(atPath: folder.path + "/a", withIntermediateDirectories: true)
        let file = try folder.file("a/own.json", text)
        let stack = try StackConfiguration(path: file, catalog: catalog())
        func path(_ instance: String, _ option: String) -> String? {
            stack.instance(instance)?.configuration[option].string
        }
        #expect(path("backend", "tokenFile") == folder.path + "/a/token")
        #expect(path("backend", "postgresUrlFile") == folder.path + "/a/url")
        #expect(path("uploader", "tokenFile") == folder.path + "/token")
        #expect(path("observer", "inbox") == folder.path + "/a/inbox")
        #expect(path("ingest", "certificateFile") == "/etc/c.pem")
        #expect(path("ingest", "keyFile") == NSHomeDirectory() + "/k.pem")
        #expect(path("ingest", "followTokenFile") == folder.path + "/a/f")
        #expect(stack.bus.keys == folder.path + "/a/keys")
    }

    /// An option that names a file is a path in every manifest.
    @Test func everyFileOptionIsAPath() throws {
        for manifest in try catalog().manifests.values {
            for (option, schema) in manifest.configuration["properties"].object ?? [:]
            where option.hasSuffix("File") || option == "folder" || option == "inbox" {
                #expect(schema["format"] == "path", "\(manifest.name): \(option)")
            }
        }
    }

    @Test func schemasAreCheckedAtEveryLevel() throws {
        let schema: Value = [
            "type": "object",
            "properties": [
                "list": ["type": "array", "items": ["type": "integer", "minimum": 1]],
                "choice": ["type": "string", "enum": ["a", "b"], "default": "a"],
                "flag": ["type": "boolean", "default": false],
                "map": ["type": "object", "additionalProperties": ["type": "number"]],
            ],
        ]
        let check = SchemaCheck(file: "f")
        #expect(try check.resolve(.null, schema: schema) == ["choice": "a", "flag": false, "list": [], "map": [:]])
        let full: Value = ["choice": "b", "flag": true, "list": [1, 2], "map": ["x": 0.5]]
        #expect(try check.resolve(full, schema: schema) == full)
        for (wrong, key) in [
            (["list": [1, 0]], "configuration.list[1]"), (["choice": "c"], "configuration.choice"),
            (["flag": 1], "configuration.flag"), (["map": ["x": "y"]], "configuration.map.x"),
            (["other": 1], "configuration.other"), (["list": 3], "configuration.list"), (3, "configuration"),
        ] as [(Value, String)] {
            let error = #expect(throws: ConfigurationError.self) { try check.resolve(wrong, schema: schema) }
            #expect(error?.key == key)
        }
    }

    @Test(
        arguments: [
            ("", 1, "mustn't be empty"), ("secret", 8, "must have at least 8 characters"),
            ("ÄÖÜ", 4, "must have at least 4 characters"), ("ÄÖÜ", 3, nil),
        ] as [(String, Int, String?)])
    func aTextHasAtLeastSoManyCharacters(_ text: String, _ least: Int, _ reason: String?) throws {
        let schema: Value = ["type": "string", "minLength": .integer(Int64(least))]
        let problems = SchemaCheck(file: "f").check(.string(text), schema: schema).problems
        #expect(problems.map(\.reason) == [reason].compactMap { $0 })
    }
}
