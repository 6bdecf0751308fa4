import Configuration
import HealthModel
import Inspection
import TestSupport
import Testing

/// What `healthbus config show` says of the environment.
@Suite struct ConfigurationReportTests {
    /// The values shown for some variables, by the setting's key.
    private func shown(_ options: String, _ environment: [String: String]) throws -> [String: Value] {
        let folder = try TemporaryFolder()
        let file = try folder.file(
            "stack.json", #"{"instances": {"fhir": {"plugin": "fhir", "configuration": \#(options)}}}"#)
        let report = try ConfigurationReport(
            Stack(state: "/nowhere", configurationFile: file), given: (state: .standard, config: .standard),
            environment: environment)
        var values: [String: Value] = [:]
        for setting in try Value(json: report.json.utf8).array ?? [] where setting["from"]["kind"] == "environment" {
            if let key = setting["key"].string { values[key] = setting["value"] }
        }
        return values
    }

    @Test func everyVariableIsShownAndNoSecret() throws {
        let server = "https://h.example.org/fhir"
        let secrets = ["HEALTHBUS_FHIR_TOKEN", "HEALTHBUS_FOLLOW_TOKEN", "HEALTHBUS_HUB_KEY"]
        var environment = ["HEALTHBUS_FHIR_SERVER": server, "HEALTHBUS_KEY_FILE": "/k", "HEALTHBUS_HUB_KEY_FILE": "/h"]
        for name in secrets { environment[name] = "confidential" }
        let values = try shown("{}", environment)
        #expect(values["fhir.server"] == .string(server))
        #expect(values["HEALTHBUS_KEY_FILE"] == "/k" && values["HEALTHBUS_HUB_KEY_FILE"] == "/h")
        for name in secrets { #expect(values[name] != nil && values[name] != "confidential", "\(name)") }
    }

    /// A port of the last start is in force, but isn't said to come from the shell.
    @Test func aRememberedVariableIsDistinguishedFromOneThatIsSet() throws {
        let report = try ConfigurationReport(
            Stack(state: "/nowhere", configurationFile: nil), given: (state: .standard, config: .standard),
            changed: true, environment: ["HEALTHBUS_BACKEND_PORT": "8797", "HEALTHBUS_INGEST_PORT": "8798"],
            remembered: ["HEALTHBUS_BACKEND_PORT"])
        let settings = try Value(json: report.json.utf8).array ?? []
        func setting(_ key: String) -> Value { settings.first { $0["key"].string == key } ?? .null }
        #expect(setting("backend.port")["value"] == 8797)
        #expect(setting("backend.port")["from"] == ["kind": "remembered", "name": "HEALTHBUS_BACKEND_PORT"])
        #expect(setting("ingest.port")["from"] == ["kind": "environment", "name": "HEALTHBUS_INGEST_PORT"])
    }

    /// The option overrides the variable.
    @Test func aServerInTheFileIsTheOneInForce() throws {
        let values = try shown(
            #"{"server": "https://a.example.org"}"#, ["HEALTHBUS_FHIR_SERVER": "https://b.example.org"])
        #expect(values == [:])
    }
}
