import Foundation
import Glibc
import HTTP
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Whole exports over HTTP.
    @Suite struct FilesOverHTTPTests {
        private struct Door {
            let client: HTTPClient
            let token: String

            func send(_ method: String, _ path: String, _ body: [UInt8] = []) throws -> HTTPResponse {
                try client.send(
                    HTTPRequest(method: method, path: path, headers: ["Authorization": "Bearer \(token)"], body: body),
                    timeout: 120)
            }
        }

        private func door(_ stack: TestStack, _ port: Int, _ words: String...) async throws -> Door {
            let made = try await stack.start(["token", "new", "--state", stack.state] + words).ended()
            return Door(
                client: try HTTPClient(base: "http://127.0.0.1:\(port)"),
                token: made.output.trimmingCharacters(in: .whitespacesAndNewlines))
        }

        private func closed(_ door: Door, _ id: String) async throws -> Value {
            var state = Value.null
            try await until("it is read: \(state)", every: 100) {
                state = try Value(json: door.send("GET", "/v1/files/\(id)").body)
                return ["closed", "failed"].contains(state["state"].string ?? "")
            }
            return state
        }

        private func leftovers(_ stack: TestStack) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: stack.state + "/ingest/files")) ?? []
        }

        @Test func anExportIsTakenAndReported() async throws {
            try await withStack { stack in
                let port = try freePort()
                let export = try await stack.generate("export.zip", "--days", "8", "--seed", "5")
                let body = [UInt8](try #require(FileManager.default.contents(atPath: export)))
                let up = try await stack.upAndReady(environment: ["HEALTHBUS_INGEST_PORT": "\(port)"])
                let anna = try await door(stack, port, "--user", "anna")
                let other = try await door(stack, port, "--user", "berta")
                try await until("the ingest hears the observer") {
                    try anna.send("POST", "/v1/files", Array("nothing".utf8)).status != 503
                }
                let answer = try anna.send("POST", "/v1/files", body)
                #expect(answer.status == 202, "\(answer.text)")
                let id = try #require(try Value(json: answer.body)["id"].string)
                let state = try await closed(anna, id)
                #expect(state["state"] == "closed" && (state["report"]["added"].int ?? 0) > 100, "\(state)")
                #expect(state["report"]["path"].isNull && !"\(state)".contains(stack.state))
                // Sending the same file again returns the same import; another user's import isn't shown.
                #expect(try Value(json: anna.send("POST", "/v1/files", body).body)["id"].string == id)
                #expect(try other.send("GET", "/v1/files/\(id)").status == 404)
                #expect(try other.send("GET", "/v1/files/x").status == 404)
                #expect(try Value(json: other.send("POST", "/v1/files", body).body)["id"].string != id)
                #expect(try anna.send("POST", "/v1/files").status == 422)
                let stranger = Door(client: anna.client, token: "hbt_nobody")
                #expect(try stranger.send("POST", "/v1/files", body).status == 401)
                let nonsense = try anna.send("POST", "/v1/files", Array("nothing".utf8))
                // The answer may come before or after the observer has examined the file.
                if nonsense.status == 202 {
                    let failed = try await closed(anna, try #require(try Value(json: nonsense.body)["id"].string))
                    #expect(failed["state"] == "failed" && failed["problem"].string?.contains("the file") == true)
                    #expect(!(failed["problem"].string ?? "").contains(stack.state))
                } else {
                    #expect(nonsense.status == 422 && !nonsense.text.contains(stack.state))
                }
                #expect(leftovers(stack).isEmpty)

                // The process is killed while it holds a file that it hasn't confirmed as stored.
                try Data("left".utf8).write(to: URL(fileURLWithPath: stack.state + "/ingest/files/.incoming-1"))
                if let pid = try stack.pid(of: "ingest") { kill(pid, SIGKILL) }
                try await until("it is gone") { leftovers(stack).isEmpty }
                #expect(try await stack.interrupt(up).exit == .code(0))
            }
        }

        @Test func aSealedBusCarriesItToo() async throws {
            try await withStack { stack in
                let (publish, subscribe, port) = (try freePort(), try freePort(), try freePort())
                let file = try stack.write(
                    "tcp.json",
                    """
                    { "bus": { "publish": "tcp://127.0.0.1:\(publish)", "subscribe": "tcp://127.0.0.1:\(subscribe)" } }
                    """)
                #expect(try await stack.onState("keys", "init", "--config", file).exit.isSuccess)
                let export = try await stack.generate("export.zip", "--days", "3", "--seed", "5")
                let body = [UInt8](try #require(FileManager.default.contents(atPath: export)))
                let up = try await stack.upAndReady(
                    "--config", file, environment: ["HEALTHBUS_INGEST_PORT": "\(port)"])
                let door = try await door(stack, port)
                var answer = try door.send("POST", "/v1/files", body)
                try await until("it is taken: \(answer.text)", every: 200) {
                    if answer.status != 202 { answer = try door.send("POST", "/v1/files", body) }
                    return answer.status == 202
                }
                let state = try await closed(door, try #require(try Value(json: answer.body)["id"].string))
                #expect(state["state"] == "closed", "\(state)")
                #expect(try await stack.interrupt(up).exit == .code(0))
            }
        }
    }
}
