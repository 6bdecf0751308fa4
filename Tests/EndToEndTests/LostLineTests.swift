import Foundation
import HTTP
import HealthModel
import Processes
import SQLite
import Testing

extension EndToEnd {
    /// What a stack says later wins at its backend, although a store was restored, lost or made again. `LineTests`
    /// tries many more ways.
    @Suite struct LostLineTests {
        private static let day = "2025-11-03"
        private static let start = 1_762_160_400

        private func steps(_ stack: TestStack) throws -> Int64? {
            try stack.get("days", ["from": Self.day, "to": Self.day])["days"].array?.first?["steps"].int
        }

        private func push(_ stack: TestStack, _ number: Int, _ value: Int, _ token: String) throws {
            let start = Self.start + number * 3600
            let body = """
                {"samples": [{"uuid": "01020304-0506-8008-8000-00000000000\(number)", \
                "type": "HKQuantityTypeIdentifierStepCount", "start": \(start), "end": \(start + 60), \
                "value": \(value), "unit": "count", "source": "Watch"}]}
                """
            let answer = try stack.push("POST", "/v1/samples", Array(body.utf8), token: token)
            #expect(answer.status == 200, "\(answer.status)")
        }

        private func sync(_ stack: TestStack) async throws {
            let sync = try await stack.onState("sync", within: 120)
            #expect(sync.exit == .code(0) && sync.output.contains("Everything is delivered"), "\(sync)")
        }

        private func verified(_ stack: TestStack) async throws {
            let verified = try await stack.onState("verify", within: 120)
            #expect(verified.exit == .code(0), "\(verified)")
        }

        /// Each instance's folder is moved aside in turn, as its own hint advises when it is damaged.
        @Test(arguments: ["consolidator", "steps", "observer", "uploader"])
        func aStoreMadeAgainAfterARestoreIsHeard(_ lost: String) async throws {
            try await withStack { stack in
                var up = try await stack.upAndReady()
                let token = try await stack.token("--device", "phone")
                try push(stack, 1, 500, token)
                try await sync(stack)
                let backup = stack.path("backup")
                #expect(try await stack.onState("backup", backup).exit == .code(0))
                try await stack.interrupt(up)
                #expect(try await stack.onState("restore", backup, "--yes").exit == .code(0))
                up = try await stack.upAndReady()
                try await sync(stack)
                // A second restore leaves nothing to complain about either.
                try await stack.interrupt(up)
                #expect(try await stack.onState("restore", backup, "--yes").exit == .code(0))
                up = try await stack.upAndReady()
                try await sync(stack)
                try await verified(stack)
                try await stack.interrupt(up)
                try FileManager.default.moveItem(atPath: "\(stack.state)/\(lost)", toPath: stack.path("aside"))
                up = try await stack.upAndReady()
                // A lost observer gets everything again, as from an export.
                if lost == "observer" { try push(stack, 1, 500, token) }
                try push(stack, 2, 900, token)
                try await sync(stack)
                #expect(try steps(stack) == 1400)
                try await verified(stack)
                let doctor = try await stack.onState("doctor")
                #expect(doctor.exit == .code(0), "\(doctor)")
                try await stack.interrupt(up)
            }
        }

        @Test func aStackThatLostAllButItsBackendIsHeard() async throws {
            try await withStack { stack in
                var up = try await stack.upAndReady()
                let token = try await stack.token("--device", "phone")
                try push(stack, 1, 500, token)
                try await sync(stack)
                try push(stack, 2, 100, token)
                try await sync(stack)
                try await stack.interrupt(up)
                for name in try FileManager.default.contentsOfDirectory(atPath: stack.state)
                where name != "backend" && name != "secrets" {
                    try FileManager.default.removeItem(atPath: "\(stack.state)/\(name)")
                }
                up = try await stack.upAndReady()
                for (number, value) in [(1, 500), (2, 100), (3, 800)] { try push(stack, number, value, token) }
                try await sync(stack)
                #expect(try steps(stack) == 1400)
                try await verified(stack)
                try await stack.interrupt(up)
            }
        }

        /// `Tests/Fixtures/release-before-ahead.tar.gz` is the state folder of a stopped stack of the release before. It
        /// was restored from a backup a week old, and its consolidator's folder was lost later: the store has 1,400
        /// steps, the backend 500 under a version years ahead, and everything was said to be delivered.
        @Test func aStoreThatIsIgnoredIsRepairedOnUpgrade() async throws {
            try await withStack { stack in
                try await stack.unpack("release-before-ahead.tar.gz")
                let up = try await stack.upAndReady()
                #expect(try steps(stack) == 500 || steps(stack) == 1400)
                try await sync(stack)
                #expect(try steps(stack) == 1400)
                try await verified(stack)
                try await stack.interrupt(up)
            }
        }

        /// What somebody changed at the backend is replaced when a person asks for it.
        @Test func anEditedValueIsFoundAndReplaced() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                let token = try await stack.token("--device", "phone")
                try push(stack, 1, 500, token)
                try await sync(stack)
                do {
                    let database = try Database(path: "\(stack.state)/backend/state.sqlite")
                    try database.execute("UPDATE sample_rows SET value = 501 WHERE value = 500")
                    try database.execute("UPDATE documents SET body = replace(body, '\"steps\":500', '\"steps\":501')")
                }
                let wrong = try await stack.onState("verify")
                #expect(wrong.exit == .code(1) && wrong.output.contains("altered there"), "\(wrong)")
                let repaired = try await stack.onState("verify", "--repair", within: 120)
                #expect(repaired.exit == .code(0), "\(repaired)")
                #expect(try steps(stack) == 500)
                try await verified(stack)
                try await stack.interrupt(up)
            }
        }
    }
}
