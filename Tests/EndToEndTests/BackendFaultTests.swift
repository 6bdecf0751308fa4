import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// A backend that isn't there, or doesn't admit us, is reported clearly, and nothing is lost in the meantime.
    @Suite struct BackendFaultTests {
        @Test func backendDownAndBack() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "10")
                let token = try stack.write("token", "a-token-of-this-test\n")
                let uploader = """
                    "uploader": { "configuration": { "url": "http://127.0.0.1:\(stack.port)", "tokenFile": "\(token)",
                        "retryBaseSeconds": 0.05, "retryCapSeconds": 0.2 } }
                    """
                let without = try stack.write("without.json", "{ \"instances\": { \"backend\": null, \(uploader) } }")
                let with = try stack.write(
                    "with.json",
                    "{ \"instances\": { \"backend\": { \"configuration\": { \"tokenFile\": \"\(token)\" } }, \(uploader) } }"
                )

                let up = try await stack.up("--config", without, "--import", export, "--until-idle")
                try await until("figures of all days: \(up.error.suffix(2000))") {
                    stack.committed(by: "consolidator") >= 10 && up.error.contains("upload.retry")
                }
                #expect(up.error.contains("127.0.0.1:\(stack.port)"))
                #expect(up.isRunning)
                #expect(stack.committed(by: "uploader") == 0)
                let backend = try await stack.start(["run", "backend", "--config", with, "--state", stack.state])
                let ended = try await up.ended()
                #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                backend.child.signal(SIGTERM)
                #expect(try await backend.ended().exit == .code(0))
                let content = try await StackContent(of: stack)
                #expect(content.acceptedTwice == 0)
                #expect(content.documents.count(where: { $0.hasPrefix("0 ") }) == content.days.count)
                let alive = content.samples.count(where: { !$0.contains("HKWorkoutTypeIdentifier") })
                #expect(alive > 5000 && content.delivered.count == alive)
            }
        }

        /// When a token expires, the command that prints it is run again and prints a new one; nothing has to be
        /// restarted.
        @Test func aTokenFromACommandIsFetchedAgainWhenItIsRefused() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "2")
                let own = try stack.write("own", "the-new-one\n")
                let printed = try stack.write("printed", "the-old-one\n")
                let file = try stack.write(
                    "stack.json",
                    """
                    { "instances": { "backend": { "configuration": { "tokenFile": "\(own)" } },
                        "uploader": { "configuration": { "tokenCommand": ["/bin/cat", "\(printed)"] } } } }
                    """)
                let up = try await stack.upAndReady("--config", file)
                try await stack.onState("import", export)
                try await until("it is refused: \(up.error.suffix(2000))") { up.error.contains("upload.paused") }
                #expect(up.error.contains("401") && !up.error.contains("the-old-one"))
                _ = try stack.write("printed", "the-new-one\n")
                try await until("all is delivered", every: 100) { try await stack.onState("sync").exit == .code(0) }
                #expect(try await stack.interrupt(up).exit == .code(0))
                #expect(!up.error.contains("the-new-one"))
                let content = try await StackContent(of: stack)
                #expect(content.delivered.count > 1000 && content.acceptedTwice == 0)
            }
        }

        @Test func wrongToken() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "3")
                let token = try stack.write("token", "not-the-one\n")
                let file = try stack.write(
                    "stack.json",
                    "{ \"instances\": { \"uploader\": { \"configuration\": { \"tokenFile\": \"\(token)\" } } } }")
                let ended = try await stack.up("--config", file, "--import", export, "--until-idle").ended()
                #expect(ended.exit == .code(1), "\(ended.error)")
                #expect(
                    ended.error.contains("the stack stopped before finishing: uploader:"), "\(ended.error.suffix(1000))"
                )
                #expect(ended.error.contains("token") && ended.error.contains("401"), "\(ended.error.suffix(1000))")
                #expect(!ended.error.contains("not-the-one"))

                // With the right token, everything arrives.
                let again = try await stack.up("--until-idle").ended()
                #expect(again.exit == .code(0), "\(again.error)")
                let content = try await StackContent(of: stack)
                #expect(content.delivered.count > 2000 && content.acceptedTwice == 0)
            }
        }
    }
}
