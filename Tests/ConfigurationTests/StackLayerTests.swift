import Configuration
import Foundation
import Glibc
import HealthModel
import TestSupport
import Testing

/// What a state folder records about its stack: which plugins have been swapped.
@Suite struct StackLayerTests {
    private let folder: TemporaryFolder
    private let catalog: PluginCatalog

    init() throws {
        folder = try TemporaryFolder()
        let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../plugins").standardizedFileURL.path
        catalog = try PluginCatalog(folder: root, programs: "/nowhere")
    }

    private var state: StateFolder { StateFolder(path: folder.path) }
    private var layer: StackLayer { StackLayer(state) }

    private func stack(
        _ config: String? = nil, _ choices: [String: StackConfiguration.Choice] = [:]
    ) throws -> StackConfiguration {
        let path = try config.map { text in
            try text.write(toFile: folder.path + "/config.json", atomically: true, encoding: .utf8)
            return folder.path + "/config.json"
        }
        return try StackConfiguration(path: path, state: state, choices: choices, catalog: catalog)
    }

    @Test func whatIsStoppedStaysSoBesideAllElse() throws {
        #expect(try layer.stopped() == [])
        try layer.setStopped(true, "steps")
        try layer.setStopped(true, "body")
        try layer.set("steps-python", of: "steps")
        #expect(try StackLayer(state).stopped() == ["body", "steps"])
        // The rest of the stack is unchanged.
        #expect(try stack().instance("steps")?.plugin == "steps-python" && stack().instance("body") != nil)
        try layer.set(nil, of: "steps")
        try layer.setStopped(false, "body")
        try layer.setStopped(false, "body")
        #expect(try layer.stopped() == ["steps"])
        try layer.setStopped(false, "steps")
        #expect(!FileManager.default.fileExists(atPath: layer.file))
        try #"{"stopped": "steps"}"#.write(toFile: layer.file, atomically: true, encoding: .utf8)
        #expect(throws: ConfigurationError.self) { try layer.stopped() }
    }

    /// The supervisor's threads change the file at the same time, each a different part.
    @Test func changesFromSeveralThreadsAllCount() throws {
        DispatchQueue.concurrentPerform(iterations: 40) { number in
            do { try layer.setStopped(true, "i\(number)") } catch { Issue.record(error) }
        }
        #expect(try layer.stopped().count == 40)
    }

    @Test func whatIsSwappedCountsUntilItIsTakenBack() throws {
        #expect(try layer.plugin(of: "steps") == nil && stack().instance("steps")?.plugin == "steps")
        try layer.set("steps-python", of: "steps")
        try layer.set("body", of: "energy")
        let swapped = try stack()
        #expect(swapped.instance("steps")?.plugin == "steps-python")
        #expect(swapped.instance("steps")?.manifest.name == "steps-python")
        #expect(
            swapped.instances.map(\.name).sorted()
                == (try StackConfiguration(path: nil, catalog: catalog)).instances.map(\.name).sorted())
        #expect(try stack(nil, ["steps": .configured]).instance("steps")?.plugin == "steps")
        #expect(try stack(nil, ["steps": .plugin("body")]).instance("steps")?.manifest.name == "body")
        try layer.set(nil, of: "energy")
        #expect(try layer.plugin(of: "steps") == "steps-python" && layer.plugin(of: "energy") == nil)
        try layer.set(nil, of: "steps")
        #expect(try stack() == StackConfiguration(path: nil, catalog: catalog))
        #expect(!FileManager.default.fileExists(atPath: layer.file))
        try layer.set(nil, of: "steps")
    }

    /// The former zone is recorded until it is resolved, and isn't part of the configuration.
    @Test func itNotesWhereDaysBegan() throws {
        #expect(try layer.formerZones() == [:])
        try layer.setFormerZone("Europe/Berlin", of: "me")
        try layer.setFormerZone("Asia/Tokyo", of: "anna")
        #expect(try layer.formerZones() == ["me": "Europe/Berlin", "anna": "Asia/Tokyo"])
        #expect(try stack() == StackConfiguration(path: nil, catalog: catalog))
        try layer.setFormerZone(nil, of: "me")
        #expect(try layer.formerZones() == ["anna": "Asia/Tokyo"])
        try layer.setFormerZone(nil, of: "anna")
        #expect(!FileManager.default.fileExists(atPath: layer.file))
    }

    /// The file keeps the configuration that the stack was last started with; this and swaps don't affect each other.
    @Test func itKnowsTheConfigurationOfTheLastStart() throws {
        #expect(try layer.configurationFile() == nil)
        try layer.remember("/etc/healthbus/stack.json")
        try layer.set("steps-python", of: "steps")
        #expect(try layer.configurationFile() == "/etc/healthbus/stack.json")
        #expect(try stack().instance("steps")?.plugin == "steps-python")
        try layer.remember(nil)
        #expect(try layer.configurationFile() == nil && layer.plugin(of: "steps") == "steps-python")
        try layer.remember("/etc/healthbus/stack.json")
        try layer.set(nil, of: "steps")
        #expect(try layer.configurationFile() == "/etc/healthbus/stack.json")
        try layer.remember(nil)
        #expect(!FileManager.default.fileExists(atPath: layer.file))
    }

    /// `start` reuses the options; an `up` without them forgets them.
    @Test func itKnowsTheOptionsOfTheLastStart() throws {
        #expect(try layer.startOptions().words == [])
        let options = StartOptions(inbox: "/srv/in box", metrics: "127.0.0.1:9464")
        try layer.remember("/etc/healthbus/stack.json", options)
        try layer.setStopped(true, "steps")
        #expect(try StackLayer(state).startOptions() == options)
        #expect(try layer.startOptions().words == ["--inbox", "/srv/in box", "--metrics", "127.0.0.1:9464"])
        #expect(try layer.configurationFile() == "/etc/healthbus/stack.json")
        #expect(try stack().instance("body") != nil)
        try layer.remember(nil, StartOptions(metrics: "[::1]:0"))
        #expect(try layer.startOptions().words == ["--metrics", "[::1]:0"])
        try layer.remember(nil)
        #expect(try layer.startOptions().words == [] && layer.stopped() == ["steps"])
        for wrong in [
            #"{"options": "--metrics"}"#, #"{"options": {"inbox": 1}}"#, #"{"options": {"values": {"A": 1}}}"#,
        ] {
            try wrong.write(toFile: layer.file, atomically: true, encoding: .utf8)
            #expect(throws: ConfigurationError.self) { try layer.startOptions() }
        }
    }

    /// Ports and folders are kept with their values; of everything that may hold a secret, only the name is.
    @Test func itKnowsTheVariablesOfTheLastStart() throws {
        let environment = [
            "HEALTHBUS_BACKEND_PORT": "8797", "HEALTHBUS_INBOX": "/srv/in box", "HEALTHBUS_INGEST_PORT": "",
            "HEALTHBUS_FHIR_SERVER": "https://me:secret@fhir.example.org", "HEALTHBUS_FHIR_TOKEN": "secret",
            "HEALTHBUS_NEW_PORT": "secret", "HEALTHBUS_STATE": "/srv/health", "PATH": "/bin", "TIDE_FOLDER": "/srv/t",
            "HEALTHBUS_TIDE_FOLDER": "/srv/tide",
        ]
        try layer.remember(
            nil, StartOptions(environment: environment, folders: ["HEALTHBUS_TIDE_FOLDER", "HEALTHBUS_OTHER_FOLDER"]))
        let last = try layer.startOptions()
        #expect(
            last.values == [
                "HEALTHBUS_BACKEND_PORT": "8797", "HEALTHBUS_INBOX": "/srv/in box",
                "HEALTHBUS_TIDE_FOLDER": "/srv/tide",
            ])
        #expect(last.variables == ["HEALTHBUS_FHIR_SERVER", "HEALTHBUS_FHIR_TOKEN", "HEALTHBUS_NEW_PORT"])
        #expect(try !String(contentsOfFile: layer.file, encoding: .utf8).contains("secret"))
        #expect(last.words == [] && last.missing(in: environment) == [])
        #expect(last.remembered(besides: [:]) == last.values)
        // A variable that is set now takes precedence; an empty one isn't set.
        let now = [
            "HEALTHBUS_BACKEND_PORT": "9000", "HEALTHBUS_INBOX": "", "HEALTHBUS_FHIR_SERVER": "https://b.example",
            "HEALTHBUS_TIDE_FOLDER": "/tide",
        ]
        #expect(last.remembered(besides: now) == ["HEALTHBUS_INBOX": "/srv/in box"])
        #expect(last.missing(in: now) == ["HEALTHBUS_FHIR_TOKEN", "HEALTHBUS_NEW_PORT"])
        try layer.remember(nil)
        #expect(try layer.startOptions().remembered(besides: [:]) == [:])
    }

    /// An earlier release kept only names, and a person may have written anything into the file.
    @Test func onlyKnownVariablesAreTakenOverFromTheFile() throws {
        let text = #"""
            {"options": {"variables": ["HEALTHBUS_BACKEND_PORT"],
              "values": {"HEALTHBUS_DASHBOARD_PORT": "", "HEALTHBUS_INBOX": "/k", "PATH": "/tmp", "HEALTHBUS_PLUGINS": "/p"}}}
            """#
        try text.write(toFile: layer.file, atomically: true, encoding: .utf8)
        let last = try layer.startOptions()
        #expect(last.remembered(besides: [:]) == ["HEALTHBUS_INBOX": "/k"])
        #expect(last.missing(in: [:]) == ["HEALTHBUS_BACKEND_PORT"])
        #expect(last.missing(in: ["HEALTHBUS_BACKEND_PORT": "8797"]) == [])
    }

    /// Only the owner can read the file, and leftovers from an attempt that crashed do no harm.
    @Test func itIsTheOwnersAlone() throws {
        try "{ \"insta".write(toFile: layer.file + ".new", atomically: false, encoding: .utf8)
        chmod(layer.file + ".new", 0o600)
        try layer.set("steps-python", of: "steps")
        var status = stat()
        #expect(stat(layer.file, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["stack.json"])
        #expect(try layer.plugin(of: "steps") == "steps-python")
    }

    /// The options are still those in the configuration; the previous plugin no longer matters.
    @Test func optionsAreThoseOfTheInstance() throws {
        let order: Value = ["HKQuantityTypeIdentifierStepCount": ["Watch"]]
        let config = "{ \"instances\": { \"steps\": { \"configuration\": { \"sourceOrder\": \(order.json()) } } } }"
        try layer.set("steps-python", of: "steps")
        #expect(try stack(config).instance("steps")?.configuration["sourceOrder"] == order)
    }

    /// An instance that the configuration leaves out doesn't come back because it was once swapped.
    @Test func anInstanceThatIsGoneStaysGone() throws {
        try layer.set("steps-python", of: "steps")
        #expect(try stack(#"{ "instances": { "steps": null } }"#).instance("steps") == nil)
    }

    @Test func aMistakeInTheFileIsntTheSwaps() throws {
        try layer.set("steps-python", of: "steps")
        let config = #"{ "instances": { "steps": { "configuration": { "sourceOrdr": {} } } } }"#
        let error = #expect(throws: ConfigurationError.self) { try stack(config) }
        #expect(error?.file == folder.path + "/config.json")
        #expect(error?.key == "instances.steps.configuration.sourceOrdr")
        #expect(error?.reason.contains("--back") == false)
    }

    @Test func aPluginThatIsGoneSaysWhatToDo() throws {
        try layer.set("nowhere", of: "steps")
        let error = #expect(throws: ConfigurationError.self) { try stack() }
        #expect(error?.file == layer.file && error?.key == "instances.steps")
        #expect(error?.reason.hasPrefix("can't be used, because 'instances.steps.plugin' ") == true)
        #expect(error?.reason.contains("'healthbus swap steps --back' undoes it") == true)
        // This is possible.
        #expect(try stack(nil, ["steps": .configured]).instance("steps")?.plugin == "steps")
    }

    @Test(arguments: [
        "{", "[]", #"{ "instances": [] }"#, #"{ "bus": null }"#, #"{ "instances": { "steps": { "x": 1 } } }"#,
    ])
    func whatCannotBeMeantIsRefused(_ text: String) throws {
        try text.write(toFile: layer.file, atomically: true, encoding: .utf8)
        let error = #expect(throws: ConfigurationError.self) { try stack() }
        #expect(error?.file == layer.file)
    }
}
