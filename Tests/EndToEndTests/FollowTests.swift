import Foundation
import Glibc
import HTTP
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// A second stack that follows a first one by asking for its changes.
    @Suite struct FollowTests {
        /// A first stack, with a port that stays the same when it is restarted.
        private struct Leader {
            let stack: TestStack
            let port: Int

            init(_ stack: TestStack) throws {
                self.stack = stack
                port = try freePort()
            }

            func up(_ words: String...) async throws -> Command {
                let up = try await stack.start(
                    ["up", "--state", stack.state, "--zone", "Europe/Berlin"] + words,
                    environment: ["HEALTHBUS_DASHBOARD_PORT": "\(port)"])
                try await until("all ready: \(up.error.suffix(2000))") { up.error.contains("processes are ready") }
                return up
            }

            /// A page of changes, as a program receives it.
            func changes(_ query: [String: String] = [:], token: String, tag: String? = nil) throws -> HTTPResponse {
                var request = HTTPRequest(path: "/api/v1/changes", query: query)
                request.headers["Authorization"] = "Bearer \(token)"
                request.headers["If-None-Match"] = tag
                return try HTTPClient(base: "http://127.0.0.1:\(port)").send(request, timeout: 60)
            }

            /// The cursor after all changes, and the number of samples before it.
            func head(token: String) throws -> (cursor: String, count: Int) {
                var (cursor, count) = ("", 0)
                while true {
                    let page = try Value(
                        json: changes(cursor.isEmpty ? [:] : ["cursor": cursor], token: token).body)
                    cursor = page["next"].string ?? ""
                    count += page["changes"].array?.count ?? 0
                    guard page["hasMore"] == true else { return (cursor, count) }
                }
            }
        }

        /// Starts a stack that follows the first one from another zone.
        private func follow(_ leader: Leader, with token: String, _ stack: TestStack) async throws -> Command {
            let file = try stack.write("token", token + "\n")
            let configuration = try stack.write(
                "follow.json",
                """
                { "instances": { "ingest": { "configuration": {
                    "followUrl": "http://127.0.0.1:\(leader.port)", "followTokenFile": "\(file)" } } } }
                """)
            let up = try await stack.start([
                "up", "--state", stack.state, "--zone", "Asia/Tokyo", "--config", configuration,
            ])
            try await until("all ready: \(up.error.suffix(2000))") { up.error.contains("processes are ready") }
            return up
        }

        /// All days, without the members that depend on when data arrived.
        private func days(_ stack: TestStack) async throws -> [Value] {
            let days = try await stack.onState("days", "--json", "--from", "1990-01-01").json().array ?? []
            return days.map { day in
                var members = day.object ?? [:]
                for name in ["final", "revision", "missing"] { members[name] = nil }
                return .object(members)
            }
        }

        private func ids(_ stack: TestStack) throws -> Set<SampleID> { Set(try stack.heldSamples().map(\.id)) }

        private func haveEqualDays(_ one: TestStack, _ other: TestStack) async throws -> Bool {
            guard try ids(one) == ids(other) else { return false }
            let (ours, theirs) = (try await days(one), try await days(other))
            return !ours.isEmpty && ours == theirs
        }

        @Test func bothHaveTheSameDaysAndACorrectionIsAllThatIsSent() async throws {
            try await withStack { first in
                try await withStack { second in
                    let leader = try Leader(first)
                    let export = try await first.generate("export.zip", "--days", "20", "--seed", "6")
                    let up = try await leader.up("--import", export)
                    let (reads, sends) = (
                        try await first.token("--scope", "read"), try await first.token("--device", "phone")
                    )
                    let other = try await follow(leader, with: reads, second)
                    for _ in 0..<3 {
                        let pid = try #require(try second.pid(of: "ingest"))
                        kill(pid, SIGKILL)
                        try await until("another ingest") { try second.pid(of: "ingest").map { $0 != pid } ?? false }
                    }
                    try await until("the export there", every: 100) {
                        try await days(first).count >= 20
                    }
                    try await until("equal days", within: 120, every: 300) { try await haveEqualDays(first, second) }

                    let samples = (0..<200).map(PushedSteps.init)
                    #expect(try first.push(samples, token: sends).status == 200)
                    try await until("equal days", within: 60, every: 100) { try await haveEqualDays(first, second) }
                    let before = try leader.head(token: reads)
                    #expect(before.count == (try first.heldSamples().count))
                    // The way an app corrects a sample: it deletes one and saves another.
                    let corrected = PushedSteps.body([PushedSteps(number: 300)], deleted: [samples[7]])
                    #expect(try first.push("POST", "/v1/samples", corrected, token: sends).status == 200)
                    let answer = try leader.changes(["since": before.cursor, "wait": "20"], token: reads)
                    let changes = try Value(json: answer.body)["changes"].array ?? []
                    #expect(answer.status == 200 && changes.count == 2)
                    #expect(changes.count { $0["deleted"] == true } == 1)
                    try await until("the correction there", within: 60, every: 50) {
                        try await haveEqualDays(first, second)
                    }
                    #expect(try second.heldSamples().count == first.heldSamples().count)

                    // There are no more changes to report.
                    let end = try leader.head(token: reads).cursor
                    let last = try leader.changes(["since": end], token: reads)
                    let tag = try #require(last.headers["ETag"])
                    #expect(try Value(json: last.body)["changes"].array?.isEmpty == true)
                    #expect(try leader.changes(["since": end], token: reads, tag: tag).status == 304)
                    #expect(try leader.changes(["since": "x.1.y"], token: reads).status == 410)
                    #expect(try leader.changes(["since": "x"], token: reads).status == 400)
                    let byCursor = try leader.changes(["cursor": before.cursor], token: reads)
                    #expect(byCursor.status == 200 && byCursor.body.count > 200)
                    let bySince = try leader.changes(["since": before.cursor], token: reads)
                    #expect(try Value(json: byCursor.body)["changes"] == Value(json: bySince.body)["changes"])
                    #expect(try leader.changes(["cursor": "x.1.y"], token: reads).status == 410)
                    #expect(try leader.changes(["cursor": "x"], token: reads).text.contains("'cursor'"))
                    #expect(try leader.changes(["user": "bob"], token: reads).status == 403)
                    #expect(try leader.changes(token: "hbt_x").status == 401)
                    #expect(try await second.interrupt(other).exit.isSuccess)
                    #expect(try await first.interrupt(up).exit.isSuccess)
                }
            }
        }

        /// The first stack is restored from an older copy. The second one keeps what is missing from that copy, and
        /// continues to follow.
        @Test func anOlderFirstStackTakesNothingAway() async throws {
            try await withStack { first in
                try await withStack { second in
                    let leader = try Leader(first)
                    let up = try await leader.up()
                    let (reads, sends) = (
                        try await first.token("--scope", "read"), try await first.token("--device", "phone")
                    )
                    let samples = (0..<120).map(PushedSteps.init)
                    #expect(try first.push(Array(samples[..<40]), token: sends).status == 200)
                    let copy = first.path("backup")
                    #expect(try await first.onState("backup", copy).exit.isSuccess)
                    #expect(try first.push(Array(samples[40..<80]), token: sends).status == 200)
                    let other = try await follow(leader, with: reads, second)
                    try await until("80 there", within: 60) { try second.heldSamples().count == 80 }
                    #expect(try await first.interrupt(up).exit.isSuccess)
                    #expect(try await first.onState("restore", copy, "--yes").exit.isSuccess)
                    let again = try await leader.up()
                    #expect(try first.heldSamples().count == 40)
                    #expect(try first.push(Array(samples[80...]), token: sends).status == 200)
                    try await until("120 there", within: 120) { try second.heldSamples().count == 120 }
                    // The lost samples arrive again, and are the same ones that the second stack has kept.
                    #expect(try first.push(samples, token: sends).status == 200)
                    try await until("equal days", within: 60, every: 100) { try await haveEqualDays(first, second) }
                    #expect(try second.heldSamples().count == 120)
                    #expect(try await second.interrupt(other).exit.isSuccess)
                    #expect(try await first.interrupt(again).exit.isSuccess)
                }
            }
        }
    }
}
