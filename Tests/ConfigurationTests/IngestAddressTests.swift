import Configuration
import Foundation
import TestSupport
import Testing

/// The addresses that phones send to.
@Suite struct IngestAddressTests {
    private func instance(_ options: String) throws -> StackConfiguration.Instance {
        let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../plugins").standardizedFileURL.path
        let folder = try TemporaryFolder()
        // Any server will do: only its options matter here.
        let file = try folder.file(
            "stack.json", #"{ "instances": { "backend": { "configuration": \#(options) } } }"#)
        let stack = try StackConfiguration(path: file, catalog: try PluginCatalog(folder: root, programs: "/nowhere"))
        return try #require(stack.instance("backend"))
    }

    @Test func theConfigurationSaysAndTheEnvironmentGoesBefore() throws {
        let usual = Endpoint(host: "127.0.0.1", port: 8788)
        #expect(try IngestAddress.endpoint(of: nil, environment: [:]) == usual)
        #expect(try IngestAddress.endpoint(of: nil, environment: ["HEALTHBUS_INGEST_PORT": ""]) == usual)
        let own = try instance(#"{ "host": "0.0.0.0", "port": 9000 }"#)
        #expect(try IngestAddress.endpoint(of: own, environment: [:]) == Endpoint(host: "0.0.0.0", port: 9000))
        let moved = try IngestAddress.endpoint(of: own, environment: ["HEALTHBUS_INGEST_PORT": "9100"])
        #expect(moved == Endpoint(host: "0.0.0.0", port: 9100))
        let error = try #require(throws: ConfigurationError.self) {
            try IngestAddress.endpoint(of: own, environment: ["HEALTHBUS_INGEST_PORT": "http"])
        }
        #expect(error.description.contains("HEALTHBUS_INGEST_PORT"))
    }

    @Test(arguments: ServerPort.allCases) func theEnvironmentSetsEveryServersPort(_ server: ServerPort) throws {
        let own = try instance(#"{ "host": "127.0.0.2", "port": 9000 }"#)
        #expect(try server.endpoint(of: own, environment: [:]) == Endpoint(host: "127.0.0.2", port: 9000))
        let moved = try server.endpoint(of: own, environment: [server.variable: "9100"])
        #expect(moved == Endpoint(host: "127.0.0.2", port: 9100))
    }

    @Test(arguments: [
        ("127.0.0.1", true, false), ("127.1.2.3", true, false), ("localhost", true, false), ("::1", true, false),
        ("0.0.0.0", false, true), ("::", false, true), ("192.168.1.5", false, false), ("health.lan", false, false),
        ("127.health.lan", false, false),
    ])
    func whoReachesIt(host: String, isLoopback: Bool, isEverywhere: Bool) {
        let endpoint = Endpoint(host: host, port: 8788)
        #expect(endpoint.isLoopback == isLoopback && endpoint.isEverywhere == isEverywhere)
    }
}
