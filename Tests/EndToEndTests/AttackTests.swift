import Foundation
import Glibc
import HTTP
import HealthModel
import Processes
import Synchronization
import Testing

extension EndToEnd {
    /// Many attackers at once, against a running stack: each gets its answer, and honest clients aren't affected.
    @Suite struct AttackTests {
        /// Sends some requests, all of which must be accepted, and returns how long each took.
        private func honest(_ stack: TestStack, _ token: String, _ numbers: Range<Int>) throws -> [Duration] {
            try numbers.map { number in
                let begin = ContinuousClock.now
                let answer = try stack.push([PushedSteps(number: number)], token: token)
                #expect(answer.status == 200, "request \(number): \(answer.status) \(answer.text.prefix(200))")
                return ContinuousClock.now - begin
            }
        }

        private func median(_ times: [Duration]) -> Duration { times.sorted()[times.count / 2] }

        /// A process's resident memory in bytes, both at its peak and now.
        private func memory(of pid: pid_t) throws -> (peak: Int, now: Int) {
            let text = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
            func bytes(_ name: String) throws -> Int {
                let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name) })
                return 1024 * (try #require(line.split(separator: " ").compactMap { Int($0) }.first))
            }
            return (try bytes("VmHWM:"), try bytes("VmRSS:"))
        }

        /// 500 requests that begin and never end: they stop before the head, within it, or within a body. Some come
        /// from strangers and some from a client with a token.
        private func beginnings(_ token: String) -> [String] {
            let post = "POST /v1/samples HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            let kinds = [
                "", "POST /v1/samples HTTP/1.1\r\nHost: x\r\nX: ", post + "Content-Length: 100000\r\n\r\n",
                post + "Authorization: Bearer hbt_wrong\r\nContent-Length: 100000\r\n\r\n",
                "GET /v1/health HTTP/1.1\r\nHost: x\r\nX: ",
            ]
            // There are only a few of these, because they take up room reserved for clients with a token.
            let known = post + "Authorization: Bearer \(token)\r\nContent-Length: 100000\r\n\r\n{\"samples\": ["
            return (0..<500).map { $0 % 10 == 9 ? known : kinds[$0 % kinds.count] }
        }

        @Test func whoMeansWellNoticesNothing() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                let token = try await stack.token("--device", "phone")
                let slow = try await stack.token("--device", "slow phone")
                let other = try await stack.token("--user", "other", "--device", "other phone")
                let revoked = try await stack.token("--device", "lost phone")
                try await stack.onState("token", "revoke", "lost phone")
                let pid = try #require(try stack.pid(of: "ingest"))
                // The first request to a process takes longer than all others.
                _ = try honest(stack, token, 0..<5)
                let before = median(try honest(stack, token, 5..<30))
                let calm = try memory(of: pid)

                let crowd = SlowCrowd(port: stack.ingestPort, beginnings: beginnings(slow))
                defer { crowd.leave() }
                try await until("the crowd") { crowd.counts.open + crowd.counts.cutOff > 490 }
                var times = try honest(stack, token, 30..<60)
                let floods = Mutex<[(sent: Int, answer: String)]>([])
                let head =
                    "POST /v1/samples HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
                for secret in [token, other, "hbt_wrong"] {
                    let port = stack.ingestPort
                    Thread.detachNewThread {
                        let flood = RawConnection.flood(
                            port: port, head: head + "Authorization: Bearer \(secret)\r\n\r\n", bytes: 1 << 30)
                        floods.withLock { $0.append(flood) }
                    }
                }
                times += try honest(stack, token, 60..<100)
                try await until("the ends of the floods") { floods.withLock { $0.count } == 3 }
                for (sent, answer) in floods.withLock({ $0 }) {
                    #expect(sent < 128 << 20, "\(sent) bytes were taken")
                    let status = answer.split(separator: " ").dropFirst().first.map { String($0) } ?? ""
                    // A body without a declared length is answered at its end, or cut off if it is far too long.
                    #expect(["", "401", "413", "429", "503"].contains(status), "\(answer.prefix(200))")
                }

                let deep = Array("{\"samples\": ".utf8) + [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
                let nested = try stack.push("POST", "/v1/samples", deep, token: token)
                #expect(nested.status == 422 && nested.text.contains("nested too deeply"), "\(nested.text)")
                let app = try stack.push("POST", "/v1/health-auto-export", deep, token: token)
                #expect(app.status == 422, "\(app.text)")
                let body = PushedSteps.body([PushedSteps(number: 1)])
                let stolen = Array("{\"user\": \"me\", ".utf8) + body.dropFirst()
                #expect(try stack.push("POST", "/v1/samples", stolen, token: other).status == 403)
                // There have been so many requests without a valid token from this address that this one may be asked
                // to wait.
                let late = try stack.push("POST", "/v1/samples", body, token: revoked)
                #expect([401, 429].contains(late.status), "\(late.status)")
                times += try honest(stack, token, 100..<130)

                #expect(median(times) < before * 10, "\(median(times)) under attack, \(before) before")
                let memory = try memory(of: pid)
                print(
                    "attack: median \(median(times)) after \(before); resident \(memory.now >> 20) MiB, at most "
                        + "\(memory.peak >> 20), \(calm.now >> 20) before; crowd \(crowd.counts)")
                #expect(memory.peak < 80 << 20, "\(memory.peak >> 20) MiB at most, \(calm.now >> 20) MiB before")
                #expect(try stack.pid(of: "ingest") == pid)
                #expect(try stack.heldSamples().count == 130)
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
        }

        /// Each attack alone, without other clients.
        @Test func eachGetsItsAnswer() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                let token = try await stack.token()
                let revoked = try await stack.token("--device", "lost phone")
                #expect(try stack.push([PushedSteps(number: 1)], token: revoked).status == 200)
                try await stack.onState("token", "revoke", "lost phone")
                try await until("the end of the token") {
                    try stack.push([PushedSteps(number: 1)], token: revoked).status == 401
                }
                let head = "POST /v1/samples HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                let flood = RawConnection.flood(
                    port: stack.ingestPort,
                    head: head + "Authorization: Bearer \(token)\r\nTransfer-Encoding: chunked\r\n\r\n", bytes: 1 << 30)
                // An answer could only be sent at the end of the body, so the connection is cut off.
                #expect(flood.answer.isEmpty && flood.sent < 64 << 20, "\(flood)")
                let reported = RawConnection.flood(
                    port: stack.ingestPort,
                    head: head + "Authorization: Bearer \(token)\r\nContent-Length: 1073741824\r\n\r\n", bytes: 1 << 30)
                #expect(reported.answer.hasPrefix("HTTP/1.1 413 ") && reported.sent < 64 << 20, "\(reported)")
                #expect(try stack.heldSamples().count == 1)
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
        }
    }
}
