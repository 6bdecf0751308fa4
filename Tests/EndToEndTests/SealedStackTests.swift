import Configuration
import Foundation
import Glibc
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// A whole stack over TCP with CURVE.
    @Suite struct SealedStackTests {
        private func configuration(_ stack: TestStack) throws -> String {
            let ports = (try freePort(), try freePort())
            return try stack.write(
                "tcp.json",
                """
                { "bus": { "publish": "tcp://127.0.0.1:\(ports.0)", "subscribe": "tcp://127.0.0.1:\(ports.1)" } }
                """)
        }

        @Test func withoutKeysItIsRefused() async throws {
            try await withStack { stack in
                let file = try configuration(stack)
                for words in [["up"], ["run", "steps"], ["run", "hub"]] {
                    let ended = try await stack.start(words + ["--config", file, "--state", stack.state]).ended(
                        within: 30)
                    #expect(!ended.exit.isSuccess)
                    #expect(ended.error.contains("the bus is sealed") && ended.error.contains("healthbus keys init"))
                }
                let open = try stack.write(
                    "open.json",
                    #"{ "bus": { "publish": "tcp://127.0.0.1:1", "subscribe": "tcp://127.0.0.1:2", "sealed": false } }"#
                )
                let ended = try await stack.onState("up", "--config", open)
                #expect(ended.exit == .code(2) && ended.error.contains("can't be false over TCP"))
            }
        }

        /// All keys, including the hub's, change while an import runs. The result is the same as that of a stack
        /// without keys from the same file. Commands use their own keys, and none is denied anything it needs.
        @Test func keysRotateUnderLoadAndNothingIsLost() async throws {
            try await withStack { plain in
                let export = try await plain.generate("x.zip", "--days", "60", "--seed", "3")
                let wanted = try await plain.onState(
                    "up", "--zone", "Europe/Berlin", "--import", export, "--until-idle", within: 120)
                #expect(wanted.exit.isSuccess)
                let days = try await plain.onState("days", "--json", "--from", "1990-01-01").output
                try await withStack { stack in
                    let file = try configuration(stack)
                    func command(_ words: String...) async throws -> Command.Ended {
                        try await stack.start(words + ["--config", file, "--state", stack.state]).ended(within: 60)
                    }
                    #expect(try await command("keys", "init").exit.isSuccess)
                    let up = try await stack.upAndReady("--config", file)
                    let importing = try await stack.start(["import", export, "--config", file, "--state", stack.state])
                    for _ in 0..<2 { #expect(try await command("keys", "rotate", "--grace", "1").exit.isSuccess) }
                    #expect(try await importing.ended(within: 90).exit.isSuccess)
                    #expect(try await command("keys", "rotate", "--grace", "0").exit.isSuccess)
                    let synced = try await command("sync")
                    #expect(synced.exit.isSuccess, "\(synced.error)")
                    try await until("the same days") {
                        try await command("days", "--json", "--from", "1990-01-01").output == days
                    }
                    let beat = try await command("tap", "--json", "--count", "1", "heartbeat.hub").output
                    #expect(try Value(json: Array(beat.utf8))["body"]["details"]["denied"] == 0)
                    #expect(try await command("keys", "remove", "tap").exit.isSuccess)
                    let tap = try await command("tap", "--json", "--count", "1")
                    #expect(!tap.exit.isSuccess && tap.error.contains("healthbus keys init"))
                    #expect(try await stack.interrupt(up).exit.isSuccess)
                }
            }
        }
    }
}
