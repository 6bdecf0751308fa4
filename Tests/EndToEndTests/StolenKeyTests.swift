import Configuration
import Foundation
import HealthModel
import MessageBus
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// A real sealed stack with a stolen key.
    @Suite struct StolenKeyTests {
        /// What a stack without an attacker makes of the same export.
        private func undisturbed(_ export: String) async throws -> StackContent {
            try await withStack { stack in
                let ended = try await stack.up("--import", export, "--until-idle").ended(within: 240)
                #expect(ended.exit.isSuccess, "\(ended.error.suffix(2000))")
                return try await StackContent(of: stack)
            }
        }

        /// Starts a sealed stack, lets the attacker loose, imports an export, and returns what the stack ends up with.
        /// - Parameter check: checks what must be true while the stack is still running. It is given how many messages
        ///   the instances distrusted, and how many the hub didn't pass on.
        private func attacked(
            _ export: String, by identity: String, check: (_ foreign: Int, _ denied: Int, BusAttacker) -> Void
        ) async throws -> StackContent {
            try await withStack { stack in
                let file = try stack.write("sealed.json", #"{ "bus": { "sealed": true } }"#)
                func command(_ words: String..., within seconds: Double = 120) async throws -> Command.Ended {
                    try await stack.start(words + ["--config", file, "--state", stack.state]).ended(within: seconds)
                }
                #expect(try await command("keys", "init").exit.isSuccess)
                let up = try await stack.upAndReady("--config", file)
                let before = Set(stack.processes)
                let attacker = try BusAttacker(
                    BusAddress(folder: stack.state + "/run"), keys: KeyFolder(path: stack.state + "/keys", hub: "hub"),
                    as: identity, hearing: "tap")
                let imported = try await command("import", export, within: 240)
                #expect(imported.exit.isSuccess, "\(imported.error.suffix(2000))")
                let synced = try await command("sync", within: 300)
                let status = synced.exit.isSuccess ? "" : try await command("status", "--json").output
                #expect(synced.exit.isSuccess, "\(synced.error.suffix(2000)) \(status)")
                #expect(up.isRunning)
                #expect(Set(stack.processes) == before, "a process was stopped: \(up.error.suffix(4000))")
                var foreign = 0
                var denied = 0
                try await until("heartbeats of all", within: 60) {
                    foreign = 0
                    let beats = try await command("tap", "--json", "--count", "40", "heartbeat.").output
                    var counts: [String: Int64] = [:]
                    for line in beats.split(separator: "\n") {
                        let message = try Value(json: Array(line.utf8))
                        let details = message["body"]["details"]
                        if let name = message["header"]["from"].string, let count = details["messages"]["foreign"].int {
                            counts[name] = count
                        }
                        denied = details["denied"].int.map { Int($0) } ?? denied
                    }
                    foreign = Int(counts.values.reduce(0, +))
                    return counts["uploader"] != nil && counts["observer"] != nil && denied > 0
                }
                check(foreign, denied, attacker)
                attacker.stop()
                try await stack.interrupt(up)
                return try await StackContent(of: stack)
            }
        }

        /// The attacker has the key of one handler, and a tap's key to listen with. While an import runs, it floods the
        /// bus with forged pages with the right ids, refusals, resets, releases, hints, commands and heartbeats.
        /// Everything arrives at the backend exactly once, and nothing stops.
        @Test func theKeyOfAHandlerSpeaksForNobodyElse() async throws {
            try await withStack { plain in
                let export = try await plain.generate("x.zip", "--days", "60", "--seed", "3")
                let wanted = try await undisturbed(export)
                let content = try await attacked(export, by: "sleep") { foreign, denied, attacker in
                    #expect(attacker.answered > 10 && attacker.sent > 1000)
                    #expect(foreign > 10, "nobody had anything to disbelieve")
                    #expect(denied > 10)
                }
                #expect(content.withoutTombstones.differences(from: wanted.withoutTombstones) == [])
            }
        }

        /// A tap's key can send nothing at all.
        @Test func theKeyOfATapMovesNothing() async throws {
            try await withStack { plain in
                let export = try await plain.generate("x.zip", "--days", "10", "--seed", "4")
                let wanted = try await undisturbed(export)
                let content = try await attacked(export, by: "tap") { foreign, denied, attacker in
                    #expect(attacker.sent > 100 && foreign == 0 && denied > 100)
                }
                #expect(content.withoutTombstones.differences(from: wanted.withoutTombstones) == [])
            }
        }
    }
}
