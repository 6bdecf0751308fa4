import Foundation
import Glibc
import HTTP
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// Programs that push samples over HTTP to a whole stack.
    @Suite struct IngestTests {
        private func stepsAtBackend(_ stack: TestStack) throws -> Int64 {
            try stack.get("stats")["types"]["HKQuantityTypeIdentifierStepCount"]["alive"].int ?? 0
        }

        private func days(_ stack: TestStack) async throws -> [Double] {
            try await stack.onState("days", "--json", "--from", "1990-01-01").json().array?.compactMap {
                $0["steps"].double
            } ?? []
        }

        /// Samples for two days are pushed with the default settings and a token; then one of them is deleted.
        @Test func whatIsPushedComesToDaysAndBackend() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                let token = try await stack.token()
                let samples = (0..<2880).map(PushedSteps.init)
                let answer = try stack.push(samples, token: token)
                #expect(answer.status == 200, "\(answer.text.prefix(300))")
                #expect(try Value(json: answer.body)["added"] == 2880)
                let sum = Double(samples.reduce(0) { $0 + $1.value })
                try await until("the days") { try await days(stack).reduce(0, +) == sum }
                try await until("the backend") { try stepsAtBackend(stack) == 2880 }
                #expect(try Value(json: stack.push(samples, token: token).body)["known"] == 2880)
                let gone = try stack.push(
                    "POST", "/v1/samples", PushedSteps.body([], deleted: [samples[7]]), token: token)
                #expect(try Value(json: gone.body)["deleted"] == 1)
                try await until("the days without it") {
                    try await days(stack).reduce(0, +) == sum - Double(samples[7].value)
                }
                try await until("the backend without it") { try stepsAtBackend(stack) == 2879 }
                #expect(try stack.push("POST", "/v1/wake", token: token).status == 202)
                #expect(
                    try stack.push("POST", "/v1/samples", PushedSteps.body([PushedSteps(number: 5000)]), token: token)
                        .status == 200)
                let woken = try stack.push("POST", "/v1/wake", token: token, query: ["wait": "25"])
                #expect(woken.status == 200 && woken.text == #"{"woken":true,"result":"newData"}"#, "\(woken.text)")
                #expect(try stepsAtBackend(stack) == 2880, "it is there once that is answered")
                let third = try stack.push("POST", "/v1/wake", token: token)
                #expect(third.status == 429 && third.headers["Retry-After"] != nil)
                #expect(try stack.push("GET", "/v1/health", token: nil, headers: [:]).status == 200)
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
        }

        @Test func linesAndCompressedBodiesAreTaken() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                let token = try await stack.token()
                let lines = (0..<500).map { PushedSteps(number: $0).json.replacingOccurrences(of: "\n", with: " ") }
                let file = try stack.write("lines", lines.joined(separator: "\n"))
                let zipped = try await stack.start(program: "/usr/bin/gzip", [file]).ended()
                #expect(zipped.exit.isSuccess)
                let body = Array(try Data(contentsOf: URL(fileURLWithPath: file + ".gz")))
                let headers = ["Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"]
                let answer = try stack.push("POST", "/v1/samples", body, token: token, headers: headers)
                #expect(answer.status == 200, "\(answer.text.prefix(300))")
                #expect(try Value(json: answer.body)["added"] == 500)
                let coded = ["Content-Type": "application/json", "Content-Encoding": "br"]
                #expect(try stack.push("POST", "/v1/samples", [1], token: token, headers: coded).status == 415)
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
        }

        @Test func whoMayNotOrTooMuchIsTurnedAway() async throws {
            try await withStack { stack in
                let file = try stack.write(
                    "small.json",
                    #"{ "instances": { "ingest": { "configuration": { "bodyBytes": 4096, "requestsPerMinute": 8 } } } }"#
                )
                let up = try await stack.upAndReady("--config", file)
                let (token, reads) = (try await stack.token(), try await stack.token("--scope", "read"))
                let one = PushedSteps.body([PushedSteps(number: 1)])
                func status(_ body: [UInt8], _ token: String?, type: String = "application/json") throws -> Int {
                    try stack.push("POST", "/v1/samples", body, token: token, headers: ["Content-Type": type]).status
                }
                #expect(try status(one, nil) == 401 && status(one, "hbt_x") == 401 && status(one, reads) == 403)
                #expect(try status([UInt8](repeating: 0x20, count: 5000), token) == 413)
                #expect(try status(one, token, type: "text/plain") == 415)
                #expect(try status(Array("{".utf8), token) == 422 && status(one, token) == 200)
                let answers = try (0..<8).map { _ in try stack.push("POST", "/v1/samples", one, token: token) }
                #expect(answers.last?.status == 429 && answers.last?.headers["Retry-After"] != nil)
                #expect(try stack.heldSamples().count == 1)
                // A revoked token stops working within a second.
                let other = try await stack.token("--device", "old phone")
                #expect(try status(one, other) == 200)
                #expect(try await stack.onState("token", "revoke", "old phone").exit.isSuccess)
                try await until("the end of the token") { try status(one, other) == 401 }
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
        }

        /// If the observer doesn't answer, the client is asked to retry later, and nothing is counted twice afterwards.
        @Test func whileTheObserverIsStoppedNothingIsTakenAndNothingLost() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                let token = try await stack.token()
                let samples = (0..<50).map(PushedSteps.init)
                let observer = try #require(try stack.pid(of: "observer"))
                kill(observer, SIGSTOP)
                let answer = try stack.push(samples, token: token)
                #expect(answer.status == 503 && answer.headers["Retry-After"] == "5", "\(answer.text)")
                kill(observer, SIGCONT)
                try await until("an answer") { try stack.push(samples, token: token).status == 200 }
                #expect(try stack.heldSamples().count == 50)
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
        }

        /// If no port was chosen, the second stack takes the next one and reports it.
        @Test func twoStacksRunSideBySide() async throws {
            try await withStack { one in
                try await withStack { other in
                    let none = ["HEALTHBUS_INGEST_PORT": ""]
                    let ups = (
                        try await one.upAndReady(environment: none), try await other.upAndReady(environment: none)
                    )
                    var ports: [Int] = []
                    for stack in [one, other] {
                        let status = try await stack.onState("status", "--json").json()
                        ports.append(Int(try #require(status["ingest"]["port"].int)))
                        let token = try await stack.token()
                        let answer = try stack.push(
                            "POST", "/v1/samples", PushedSteps.body([PushedSteps(number: ports.count)]), token: token,
                            port: ports[ports.count - 1])
                        #expect(answer.status == 200)
                    }
                    #expect(ports[0] != ports[1] && ports.allSatisfy { (8788..<8808).contains($0) }, "\(ports)")
                    let log = try await other.onState("logs", "ingest", "--level", "warning")
                    #expect(log.output.contains("ingest.moved") || ports[1] == 8788, "\(log.output)")
                    for (stack, number) in [(one, 1), (other, 2)] {
                        #expect(try stack.heldSamples().map(\.start) == [PushedSteps(number: number).start * 1_000_000])
                    }
                    #expect(try await one.interrupt(ups.0).exit.isSuccess)
                    #expect(try await other.interrupt(ups.1).exit.isSuccess)
                }
            }
        }
    }
}
