import Foundation
import Glibc
import HealthModel
import Supervisor
import Testing

extension EndToEnd {
    /// `validate` before a stack starts, `doctor` while it runs.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct FindingsTests {
        private func whats(_ ended: Command.Ended) throws -> [String] {
            try ended.json().array?.compactMap { $0["what"].string } ?? []
        }

        @Test func validateTellsAllAtOnceAndStartsNothing() async throws {
            try await withStack { stack in
                let clean = try await stack.onState("validate")
                #expect(clean.exit == .code(0) && clean.output.hasPrefix("nothing is wrong"), "\(clean.output)")
                #expect(!FileManager.default.fileExists(atPath: stack.state))

                let config = try stack.write(
                    "config.json",
                    """
                    { "instances": {
                        "debouncer": { "configuration": { "windowSecond": 1 } },
                        "uploader": { "configuration": { "url": "ftp://x", "tokenFile": "/nowhere/token" } },
                        "uploader": { "configuration": { "url": "ftp://x", "tokenFile": "/nowhere/token" } } },
                      "monitoring": { "port": -1 } }
                    """)
                let wrong = try await stack.onState("validate", "--json", "--config", config)
                #expect(wrong.exit == .code(2))
                let list = try wrong.json().array ?? []
                #expect(list.prefix(3).map { $0["line"].int } == [2, 4, 5])
                let whats = try whats(wrong)
                for words in ["windowSeconds", "named already in line 3", "at least 0", "isn't there", "http"] {
                    #expect(whats.contains { $0.contains(words) }, "\(words): \(whats)")
                }
                // The command that starts it names the first one's line too.
                let up = try await stack.onState("up", "--config", config)
                #expect(up.exit == .code(2) && up.error.contains("config.json:2: "))
            }
        }

        /// Around the configuration: what isn't its fault ends with 1.
        @Test func validateLooksAround() async throws {
            try await withStack { stack in
                let taken = try freePort()
                let monitor = try await stack.start(["monitor", "--listen", "\(taken)", "--state", stack.state])
                try await until("it listens") { monitor.error.contains("/metrics") }
                let port = try await stack.onState(
                    "validate", "--json", environment: ["HEALTHBUS_BACKEND_PORT": "\(taken)"])
                #expect(try port.exit == .code(1) && whats(port).contains { $0.contains("taken by another process") })
                monitor.child.signal(SIGTERM)
                _ = try await monitor.ended(within: 10)

                let zone = try await stack.onState(
                    "validate", "--json",
                    environment: ["HEALTHBUS_ZONE": "Europe/Nowhere", "HEALTHBUS_LOG_LEVEL": "loud"])
                #expect(zone.exit == .code(1))
                #expect(try whats(zone).count == 2)

                try FileManager.default.createDirectory(
                    atPath: stack.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
                let open = try await stack.onState("validate", "--json")
                #expect(
                    try open.exit == .code(0) && whats(open).contains { $0.contains("open to other accounts (0755)") })
            }
        }

        @Test func theDoctorFindsWhatIsBroken() async throws {
            try await withStack { stack in
                let nobody = try await stack.onState("doctor", "--json")
                #expect(try nobody.exit == .code(1) && whats(nobody).first == "no stack runs on it")

                let up = try await stack.upAndReady()
                try await until("all is well", every: 100) {
                    let well = try await stack.onState("doctor")
                    return well.exit == .code(0)
                        && well.output == "all is well: 13 processes are ready, and nobody is stuck\n"
                }
                let steps = try #require(try stack.pid(of: "steps"))
                kill(steps, SIGSTOP)
                try await until("steps is missed", every: 100) {
                    let ill = try await stack.onState("doctor", "--json")
                    return try ill.exit == .code(1) && ill.json().array?.first?["subject"] == "steps"
                        && whats(ill)[0].contains("isn't heard")
                }
                kill(steps, SIGCONT)
                // Started with other options than are on disk now.
                let config = try stack.write(
                    "config.json", #"{"instances": {"debouncer": {"configuration": {"windowSeconds": 7}}}}"#)
                try await until("another configuration", every: 100) {
                    try await whats(stack.onState("doctor", "--json", "--config", config)).first
                        == "runs with another configuration or version than is on disk"
                }
                try await stack.interrupt(up)
            }
        }
    }
}
