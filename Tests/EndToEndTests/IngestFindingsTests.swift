import Foundation
import HTTP
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// What `validate` and `doctor` report about an ingest's address and certificate.
    @Suite struct IngestFindingsTests {
        private func config(_ stack: TestStack, _ options: String) throws -> String {
            try stack.write("config.json", #"{"instances": {"ingest": {"configuration": \#(options)}}}"#)
        }

        /// Makes a self-signed certificate that is valid for the given number of days.
        private func certificate(_ stack: TestStack, _ name: String, days: Int) async throws {
            let made = try await stack.start(
                program: "/usr/bin/openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                    "/CN=localhost", "-days", "\(days)", "-keyout", stack.path(name + ".key"), "-out",
                    stack.path(name + ".pem"),
                ]
            ).ended()
            #expect(made.exit.isSuccess, "\(made.error)")
        }

        @Test func validateSaysWhatTheStartWouldSay() async throws {
            try await withStack { stack in
                let words = "would listen at 0.0.0.0 without TLS, where anyone on the network can read the tokens"
                let open = try config(stack, #"{"host": "0.0.0.0"}"#)
                let found = try await stack.onState("validate", "--config", open)
                #expect(found.exit == .code(2) && found.output.contains(words), "\(found)")
                let up = try await stack.onState("up", "--config", open)
                #expect(up.exit == .code(2) && up.error.contains(words), "\(up.error)")
                let alone = try await stack.onState("run", "ingest", "--config", open)
                #expect(!alone.exit.isSuccess && alone.error.contains(words), "\(alone.error)")
            }
        }

        /// If the usual port is taken, the next free one is used, and the person only has to know.
        @Test func aTakenUsualPortIsNoError() async throws {
            try await withStack { stack in
                // If another program already has this port, that does as well.
                let taken = try? HTTPServer(port: 8788) { _ in HTTPResponse(status: 200) }
                defer { taken?.stop(drainSeconds: 0) }
                let usual = ["HEALTHBUS_INGEST_PORT": ""]
                let found = try await stack.onState("validate", environment: usual)
                #expect(found.exit == .code(0), "\(found)")
                #expect(
                    found.output.contains("8788") && found.output.contains("the next free one is used"), "\(found)")
                // If a person has chosen a port, no other is used.
                let chosen = try config(stack, #"{"port": \#(stack.port)}"#)
                let other = try HTTPServer(port: stack.port) { _ in HTTPResponse(status: 200) }
                defer { other.stop(drainSeconds: 0) }
                let refused = try await stack.onState(
                    "validate", "--config", chosen,
                    environment: usual.merging(["HEALTHBUS_BACKEND_PORT": "\(stack.ingestPort)"]) { $1 })
                #expect(refused.exit == .code(2) && refused.output.contains("set another"), "\(refused)")
            }
        }

        @Test func certificatesAreLookedAt() async throws {
            try await withStack { stack in
                try await certificate(stack, "short", days: 5)
                try await certificate(stack, "long", days: 300)
                func said(_ certificate: String, _ key: String) async throws -> Command.Ended {
                    let file = try config(
                        stack,
                        #"{"certificateFile": "\#(stack.path(certificate))", "keyFile": "\#(stack.path(key))"}"#)
                    return try await stack.onState("validate", "--config", file)
                }
                let near = try await said("short.pem", "short.key")
                #expect(near.exit == .code(0) && near.output.contains("its certificate expires on 20"), "\(near)")
                let well = try await said("long.pem", "long.key")
                #expect(well.exit == .code(0) && well.output.hasPrefix("nothing is wrong"), "\(well)")
                let nowhere = try await said("none.pem", "long.key")
                #expect(nowhere.exit == .code(2) && nowhere.output.contains("none.pem"), "\(nowhere)")
                let other = try await said("long.pem", "short.key")
                #expect(other.exit == .code(2) && other.output.contains("certificate"), "\(other)")
            }
        }

        @Test func theDoctorSaysWhoReachesIt() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady(
                    "--config", try config(stack, #"{"host": "0.0.0.0", "plainHTTP": true}"#))
                _ = try await stack.token()
                let status = try await stack.onState("status")
                #expect(status.output.contains("Ingest: http://127.0.0.1:\(stack.ingestPort), 0 requests taken."))
                try await until("nothing but that", every: 100) {
                    let doctor = try await stack.onState("doctor", "--json")
                    let found = try doctor.json().array?.first { $0["subject"] == "ingest" }
                    return doctor.exit == .code(0) && found?["severity"] == "note"
                        && found?["what"].string?.contains("without TLS") == true
                }
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
        }
    }
}
