import Foundation
import Glibc
import HTTP
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// A stack that publishes its figures to Debian's broker, read with Debian's client.
    @Suite(.enabled(if: MosquittoBroker.isThere, Comment(rawValue: MosquittoBroker.hint)))
    struct HomeAssistantBrokerTests {
        private static let status = "healthbus/status"
        private static let today = "healthbus/me/today"
        private static let steps = "homeassistant/sensor/healthbus/me--steps/config"

        private func configuration(_ stack: TestStack, _ broker: String, _ more: String = "") throws -> String {
            try stack.write(
                "ha.json",
                """
                { "instances": { "home-assistant": { "plugin": "home-assistant",
                    "configuration": { "broker": "\(broker)" \(more) } } } }
                """)
        }

        /// Debian's client. Until it is killed, it prints for each message whether it was retained, its topic and its
        /// payload.
        private func listen(
            _ stack: TestStack, _ broker: MosquittoBroker, _ words: [String] = []
        ) async throws -> Command {
            let filters = ["-t", "healthbus/#", "-t", "homeassistant/#"]
            return try await stack.start(
                program: "/usr/bin/mosquitto_sub",
                ["-h", "127.0.0.1", "-p", "\(broker.port)", "-q", "1", "-F", "%r %t %p"] + filters + words)
        }

        private struct Reported {
            var isRetained: Bool
            var topic: String
            var payload: String
        }

        private func reported(_ listener: Command) -> [Reported] {
            // The last line may be incomplete.
            listener.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { line in
                let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
                guard parts.count == 3 else { return nil }
                return Reported(isRetained: parts[0] == "1", topic: String(parts[1]), payload: String(parts[2]))
            }
        }

        private func last(_ topic: String, _ listener: Command) -> String? {
            reported(listener).last { $0.topic == topic }?.payload
        }

        /// Today's steps, as received last.
        private func steps(_ listener: Command) -> Double? {
            last(Self.today, listener).flatMap { try? Value(json: Array($0.utf8)) }?["figures"]["steps"].double
        }

        /// A sample from a minute ago.
        private func body(_ number: Int, _ value: Int, at start: Int, deleting gone: Int? = nil) -> [UInt8] {
            func uuid(_ number: Int) -> String { "01020304-0506-8008-8000-00000000000\(number)" }
            let deleted = gone.map { "\"\(uuid($0))\"" } ?? ""
            return Array(
                """
                {"samples": [{"uuid": "\(uuid(number))", "type": "HKQuantityTypeIdentifierStepCount", \
                "start": \(start), "end": \(start + 5), "value": \(value), "unit": "count", "source": "Watch"}], \
                "deleted": [\(deleted)]}
                """.utf8)
        }

        private func push(_ stack: TestStack, _ body: [UInt8], _ token: String) throws {
            let answer = try stack.push("POST", "/v1/samples", body, token: token)
            #expect((200..<300).contains(answer.status), "\(answer.status)")
        }

        @Test func figuresAreRetainedRevisedAndThereAgainAfterTheBrokerWasKilled() async throws {
            let broker = try MosquittoBroker(in: try TemporaryFolder())
            defer { broker.kill() }
            try await withStack { stack in try await correctKillAndRestart(stack, broker) }
        }

        private func correctKillAndRestart(_ stack: TestStack, _ broker: MosquittoBroker) async throws {
            let file = try configuration(stack, "mqtt://127.0.0.1:\(broker.port)")
            let up = try await stack.upAndReady("--config", file)
            let token = try await stack.token("--device", "phone")
            let start = Int(Date().timeIntervalSince1970) - 10
            let listener = try await listen(stack, broker)
            try push(stack, body(1, 123, at: start), token)
            try await until("the figure is there: \(up.error.suffix(2000))") { steps(listener) == 123 }
            try await until("it is available, and so is all else") {
                last(Self.status, listener) == "online" && last("healthbus/me/yesterday", listener) != nil
            }
            let text = try await describedToLaterOnes(stack, broker)

            // One sample is corrected twice; its day is sent, and nothing else.
            let before = reported(listener).count
            try push(stack, body(2, 77, at: start, deleting: 1), token)
            try await until("it is corrected") { steps(listener) == 77 }
            try push(stack, body(3, 78, at: start, deleting: 2), token)
            try await until("it is corrected again") { steps(listener) == 78 }
            let sent = Set(reported(listener).dropFirst(before).map { $0.topic })
            #expect(sent == [Self.today])

            try await clearedByHand(stack, broker, listener, text)

            broker.kill()
            try push(stack, body(4, 55, at: start, deleting: 3), token)
            try broker.restart()
            let again = try await listen(stack, broker)
            try await until("all is there again: \(up.error.suffix(2000))") {
                steps(again) == 55 && last(Self.steps, again) != nil && last(Self.status, again) == "online"
            }
            #expect(last(Self.steps, again) == text)

            try await diesAndLeaves(stack, up, again)
            again.child.kill()
            listener.child.kill()
        }

        /// A message that somebody has cleared is sent again, and another program's message stays.
        private func clearedByHand(
            _ stack: TestStack, _ broker: MosquittoBroker, _ listener: Command, _ text: String
        ) async throws {
            let place = ["-h", "127.0.0.1", "-p", "\(broker.port)"]
            let filters = ["-t", "healthbus/me/+", "-t", "homeassistant/sensor/healthbus/+/config"]
            // The client ends with an error, since only its time-out stops it.
            _ = try await stack.start(
                program: "/usr/bin/mosquitto_sub", place + filters + ["--remove-retained", "-W", "1"]
            ).ended()
            try await until("it is there again: \(reported(listener).suffix(5))") {
                let all = reported(listener)
                return all.contains { $0.topic == Self.steps && $0.payload.isEmpty }
                    && last(Self.steps, listener) == text && steps(listener) == 78
            }
            let kitchen = "healthbus/kitchen/temperature"
            let words = place + ["-t", kitchen, "-m", "21", "-r", "-q", "1"]
            let ended = try await stack.start(program: "/usr/bin/mosquitto_pub", words).ended()
            #expect(ended.exit.isSuccess, "\(ended.error)")
            try await until("it is heard") { last(kitchen, listener) == "21" }
        }

        /// A client that connects later gets everything at once.
        ///
        /// - Returns: the description of the steps sensor.
        private func describedToLaterOnes(_ stack: TestStack, _ broker: MosquittoBroker) async throws -> String {
            let later = try await listen(stack, broker)
            try await until("it is retained") { steps(later) == 123 && last(Self.steps, later) != nil }
            let areRetained = reported(later).allSatisfy { $0.isRetained }
            #expect(areRetained)
            let text = try #require(last(Self.steps, later))
            let description = try Value(json: Array(text.utf8))
            #expect(description["state_class"] == "total" && description["state_topic"].string == Self.today)
            later.child.kill()
            return text
        }

        /// The publishing process dies. The broker announces this, and the next process announces that it is back. A
        /// stack that is stopped announces that it is offline.
        private func diesAndLeaves(_ stack: TestStack, _ up: Command, _ listener: Command) async throws {
            let pid = try #require(try stack.pid(of: "home-assistant"))
            _ = Glibc.kill(pid, SIGKILL)
            try await until("the last will") {
                reported(listener).contains { $0.topic == Self.status && $0.payload == "offline" }
            }
            try await until("it is back") { last(Self.status, listener) == "online" }
            try await stack.interrupt(up)
            try await until("the goodbye") { last(Self.status, listener) == "offline" }
        }

        @Test func withTLSAndAPasswordFromFiles() async throws {
            let folder = try TemporaryFolder()
            try await withStack { stack in
                func tool(_ program: String, _ words: String...) async throws {
                    let ended = try await stack.start(program: program, words).ended()
                    try #require(ended.exit.isSuccess, "\(program): \(ended.error)")
                }
                let path = folder.path
                try await tool(
                    "/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                    "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", path + "/key.pem", "-out",
                    path + "/cert.pem")
                try await tool("/usr/bin/mosquitto_passwd", "-b", "-c", path + "/users", "anna", "right")
                let broker = try MosquittoBroker(
                    in: folder,
                    settings: [
                        "allow_anonymous false", "password_file \(path)/users", "certfile \(path)/cert.pem",
                        "keyfile \(path)/key.pem",
                    ])
                defer { broker.kill() }
                let password = try stack.write("password", "wrong\n")
                let file = try configuration(
                    stack, "mqtts://localhost:\(broker.port)",
                    """
                    , "user": "anna", "passwordFile": "\(password)", "caFile": "\(path)/cert.pem"
                    """)
                let up = try await stack.upAndReady("--config", file)
                try await until("it is refused: \(up.error.suffix(2000))") { up.error.contains("upload.paused") }
                #expect(!up.error.contains("wrong"))
                // The file is read again at the next attempt.
                _ = try stack.write("password", "right\n")
                let listener = try await listen(
                    stack, broker, ["-h", "localhost", "-u", "anna", "-P", "right", "--cafile", path + "/cert.pem"])
                try await until("it is let in: \(up.error.suffix(2000))") {
                    last(Self.status, listener) == "online"
                }
                listener.child.kill()
                try await stack.interrupt(up)
            }
        }
    }
}
