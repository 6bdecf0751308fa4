import Foundation
import Glibc
import HTTP
import HealthModel
import Processes
import Synchronization
import Testing

extension EndToEnd {
    /// A process that pushed samples pass through is killed (SIGKILL) while many clients send: whatever was accepted is
    /// stored once, and anything else at most once.
    @Suite struct IngestKillTests {
        static let clients = 20
        static let requests = Programs.number("HEALTHBUS_FAULT_REQUESTS", else: 12)
        static let samples = 25

        /// The samples that clients have sent.
        private final class Sent: Sendable {
            struct State {
                var acknowledged: Set<Int64> = []
                var unknown: Set<Int64> = []
                var finished = 0
                var answers: [Int: Int] = [:]
            }
            let state = Mutex(State())
        }

        /// One client: it sends each request at least once, and repeats every second one until it is accepted, as a
        /// phone does.
        private static func send(_ client: Int, to stack: TestStack, token: String, _ sent: Sent) {
            for request in 0..<requests {
                let first = (client * requests + request) * samples
                let items = (first..<first + samples).map(PushedSteps.init)
                let starts = Set(items.map { $0.start * 1_000_000 })
                sent.state.withLock { $0.unknown.formUnion(starts) }
                let deadline = Date(timeIntervalSinceNow: 120)
                repeat {
                    // Nothing is listening while the ingest is down.
                    let status = (try? stack.push(items, token: token).status) ?? 0
                    sent.state.withLock { $0.answers[status, default: 0] += 1 }
                    if status == 200 {
                        sent.state.withLock {
                            $0.unknown.subtract(starts)
                            $0.acknowledged.formUnion(starts)
                        }
                        break
                    }
                    Thread.sleep(forTimeInterval: 0.05)
                } while request % 2 == 0 && Date() < deadline
            }
            sent.state.withLock { $0.finished += 1 }
        }

        @Test(arguments: ["ingest", "observer", "hub"]) func killed(_ victim: String) async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                let token = try await stack.token()
                let sent = Sent()
                for client in 0..<Self.clients {
                    Thread.detachNewThread { Self.send(client, to: stack, token: token, sent) }
                }
                let all = Self.clients * Self.requests * Self.samples
                for strike in 1...2 {
                    try await until("a part of the work", within: 120) {
                        sent.state.withLock { $0.acknowledged.count >= strike * all / 5 || $0.finished == Self.clients }
                    }
                    var pid: pid_t = 0
                    try await until("\(victim)") {
                        pid = try stack.pid(of: victim) ?? 0
                        return pid != 0
                    }
                    kill(pid, SIGKILL)
                    try await until("the end of \(victim)") { try stack.pid(of: victim) != pid }
                }
                try await until("the clients' end: \(up.error.suffix(1000))", within: 240) {
                    sent.state.withLock { $0.finished == Self.clients }
                }
                let reported = sent.state.withLock(\.self)
                let ended = try await stack.interrupt(up)
                #expect(ended.exit.isSuccess, "\(ended.error.suffix(2000))")
                let held = try stack.heldSamples().map(\.start)
                #expect(held.count == Set(held).count, "stored twice; \(reported.answers)")
                #expect(reported.acknowledged.subtracting(held).isEmpty, "acknowledged and lost; \(reported.answers)")
                #expect(Set(held).subtracting(reported.acknowledged).isSubset(of: reported.unknown), "nobody sent it")
                // All requests that were repeated until they were accepted are there.
                #expect(reported.acknowledged.count >= all / 2, "\(reported.answers)")
            }
        }
    }
}
