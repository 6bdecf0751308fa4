import Foundation
import HTTP
import HealthModel
import Processes
import SQLite
import TestSupport
import Testing

extension EndToEnd {
    /// The example of a backend, which people copy, against the sentences of docs/backend.md that `backend test` doesn't
    /// cover.
    @Suite struct ExampleBackendTests {
        private static let token = "a-token-of-this-test"

        private struct Backend {
            let client: HTTPClient

            func ask(
                _ method: String, _ path: String, _ query: [String: String] = [:], headers: HTTPHeaders = [:],
                _ body: String = ""
            ) throws -> HTTPResponse {
                var request = HTTPRequest(
                    method: method, path: "/api/v1/" + path, query: query, headers: headers, body: Array(body.utf8))
                request.headers["Authorization"] = "Bearer " + ExampleBackendTests.token
                request.headers["Content-Type"] = headers["Content-Type"] ?? "application/json"
                return try client.send(request)
            }

            func sync(_ metric: String, _ body: String, headers: HTTPHeaders = [:]) throws -> (status: Int, Value) {
                let answer = try ask("POST", "sync/" + metric, headers: headers, body)
                return (answer.status, try Value(json: answer.body))
            }

            func get(_ path: String, _ query: [String: String] = [:]) throws -> Value {
                let answer = try ask("GET", path, query)
                try #require(answer.status == 200, "\(path): \(answer.text)")
                return try Value(json: answer.body)
            }
        }

        /// - Parameter tables: made in its file before it starts.
        private func withExample(tables: String = "", _ body: (Backend) throws -> Void) async throws {
            try await withStack { stack in
                if !tables.isEmpty { try Database(path: stack.path("health.db")).execute(tables) }
                let port = try freePort()
                let server = try await stack.start(
                    program: "/usr/bin/env",
                    [
                        "python3", "-B", Programs.checkout + "/examples/backend-python/server.py", "\(port)",
                        stack.path("health.db"),
                    ],
                    environment: [
                        "HEALTHBUS_BACKEND_TOKEN": Self.token,
                        "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin",
                    ])
                try await until("it listens: \(server.error)") { server.output.contains("listening") }
                try body(Backend(client: HTTPClient(base: "http://127.0.0.1:\(port)")))
                server.child.signal(SIGINT)
                #expect(try await server.ended().exit == .code(0))
            }
        }

        private static func sample(_ id: String, _ version: Int, _ more: String = "") -> String {
            """
            {"id": "\(id)", "version": \(version), "type": "T", "startDate": "2025-03-30T10:00:00+02:00", \
            "endDate": "2025-03-30T10:10:00+02:00", "value": 1\(more)}
            """
        }

        @Test func itAnswersWithTheStatusesOfTheContract() async throws {
            try await withExample { backend in
                for (method, path, status) in [
                    ("GET", "nothing", 404), ("POST", "sync/", 404), ("GET", "sync/steps", 405), ("POST", "stats", 405),
                    ("HEAD", "samples", 200), ("DELETE", "samples", 405),
                ] { #expect(try backend.ask(method, path).status == status, "\(method) \(path)") }
                #expect(try backend.ask("GET", "sync/steps").headers["Allow"] == "POST")
                let plain: HTTPHeaders = ["Content-Type": "text/plain"]
                #expect(try backend.ask("POST", "sync/steps", headers: plain, "{}").status == 415)
                for body in [
                    "[]", "{}", #"{"days": []}"#, #"{"samples": 3}"#, #"{"samples": [NaN]}"#,
                    #"{"samples": [], "userId": ""}"#, #"{"samples": [], "userId": 7}"#,
                ] { #expect(try backend.sync("steps", body).status == 400, "\(body)") }
                #expect(try backend.sync("steps", #"{"samples": []}"#).status == 200)
                let many = [String](repeating: "1", count: 20_001).joined(separator: ",")
                #expect(try backend.sync("steps", #"{"samples": [\#(many)]}"#).status == 413)
                let (status, bad) = try backend.sync("steps", #"{"samples": [{"id": "x"}]}"#)
                #expect(status == 422 && bad["counts"]["refused"] == 1 && bad["refused"].array?.first?["id"] == "x")
                for (name, value) in [
                    ("frm", "2025"), ("limit", "0"), ("limit", "2001"), ("zone", "Nowhere/No"), ("from", "x"),
                ] { #expect(try backend.ask("GET", "samples", [name: value]).status == 400, "\(name)") }
                #expect(try backend.ask("GET", "versions").status == 400)
                let tag = try #require(try backend.ask("GET", "samples").headers["ETag"])
                #expect(try backend.ask("GET", "samples", headers: ["If-None-Match": tag]).status == 304)
            }
        }

        @Test func itKeepsElementsAsTheContractSays() async throws {
            let uuid = "0195E621-9C60-8ABC-8DEF-0123456789AB"
            try await withExample { backend in
                // Only UUIDs ignore case, and times have an offset.
                let noOffset = #", "startDate": "2025-03-30T10:00:00""#
                let first = [
                    Self.sample(uuid, 5), Self.sample("a", 1), Self.sample("A", 1, #", "stranger": 1"#),
                    Self.sample("n", 1, noOffset),
                ].joined(separator: ",")
                let (_, answer) = try backend.sync("steps", #"{"samples": [\#(first)]}"#)
                #expect(answer["created"] == [.string(uuid), "a", "A"] && answer["refused"].array?.count == 1)
                #expect(answer["serverTime"].string.flatMap { InstantText.parse($0) } != nil)
                let (_, lower) = try backend.sync("steps", #"{"samples": [\#(Self.sample(uuid.lowercased(), 3))]}"#)
                #expect(lower["held"] == [uuid.lowercased(): 5])
                let kept = try backend.get("samples")["samples"].array ?? []
                #expect(kept.map { $0["id"] } == [.string(uuid.lowercased()), "A", "a"])
                #expect(kept.allSatisfy { $0["startDate"] == "2025-03-30T08:00:00Z" && $0["stranger"].isNull })

                // A tombstone keeps its times; one of something that never came is in every range.
                let gone = #"{"deleted": [{"id": "a", "version": 1}, {"id": "never", "version": 3}]}"#
                #expect(try backend.sync("steps", gone).1["counts"]["updated"] == 1)
                let later = try backend.get("versions", ["list": "samples", "from": "2025-03-31"])
                #expect(later["ids"] == ["never"])
                let then = try backend.get("versions", ["list": "samples", "to": "2025-03-30"])
                #expect(then["deleted"] == [0, 0, 1, 1])

                // Of manual samples of one moment, the highest version stays.
                let manual = ["m1", "m2"].enumerated().map {
                    Self.sample($1, $0 + 1, #", "sourceType": "manual", "type": "B""#)
                }
                _ = try backend.sync("body", #"{"samples": [\#(manual.joined(separator: ","))]}"#)
                let bodies = try backend.get("samples", ["type": "B"])["samples"].array ?? []
                #expect(bodies.map { $0["id"] } == ["m2"] && bodies.map { $0["version"] } == [2])

                // A day's key is its date.
                let days = #"{"date": "2025-03-30", "id": "x", "version": 1}, {"date": "30 March", "version": 1}"#
                #expect(try backend.sync("daily", #"{"days": [\#(days)]}"#).1["created"] == ["2025-03-30"])

                // A sender has seen more of this database than there is: it is an older copy.
                let before = try backend.get("stats")
                let generation = try #require(before["generation"].string)
                let (_, fresh) = try backend.sync(
                    "steps", #"{"samples": []}"#, headers: ["Healthbus-Seen": "\(generation) 1000"])
                #expect(fresh["generation"] != before["generation"] && fresh["sequence"] == 1000)
            }
        }

        /// Its first files didn't number elements by their latest change.
        private static let earlier = """
            CREATE TABLE backend(generation TEXT, sequence INTEGER);
            INSERT INTO backend VALUES ('00000000000000000000000000000000', 2);
            CREATE TABLE elements(user TEXT, kind TEXT, id TEXT, version INTEGER, deleted INTEGER, manual TEXT, body TEXT,
                PRIMARY KEY (user, kind, id)) WITHOUT ROWID;
            INSERT INTO elements VALUES ('me', 'samples', 'a', 1, 0, NULL, '{"id": "a", "version": 1, "type": "T"}'),
                ('me', 'samples', 'b', 2, 1, NULL, '{}'), ('me', 'days', '2025-03-30', 1, 0, NULL, '{"date": "2025-03-30"}');
            """

        @Test func itListsWhatChangedSinceACursor() async throws {
            try await withExample(tables: Self.earlier) { backend in
                let first = try backend.get("changes", ["limit": "1"])
                #expect(first["changes"] == [["id": "a", "version": 1, "deleted": false, "type": "T"]])
                let rest = try backend.get("changes", ["cursor": first["next"].string ?? ""])
                #expect(first["hasMore"] == true && rest["hasMore"] == false)
                #expect(
                    rest["changes"].array?.map { $0["id"] } == ["b"] && rest["changes"].array?.first?["deleted"] == true
                )
                let next = try #require(rest["next"].string as String?)

                // A manual sample gives way to another: that is a change too.
                let manual = ["m1", "m2"].enumerated().map { Self.sample($1, $0 + 1, #", "sourceType": "manual""#) }
                for sample in manual { _ = try backend.sync("body", #"{"samples": [\#(sample)]}"#) }
                let changes = try backend.get("changes", ["since": next])["changes"].array ?? []
                #expect(changes.map { $0["id"] } == ["m1", "m2"] && changes.map { $0["deleted"] } == [true, false])

                let days = try backend.get("changes", ["list": "days"])["changes"]
                #expect(
                    days == [
                        [
                            "id": "2025-03-30", "version": 1, "deleted": false, "type": "day",
                            "payload": ["date": "2025-03-30"],
                        ]
                    ])
                for (query, status) in [
                    (["cursor": next, "list": "days"], 410), (["cursor": next, "user": "bob"], 410),
                    (["cursor": next.replacing("00000", with: "00001")], 410), (["cursor": "x"], 400),
                    (["limit": "20001"], 400), (["list": "x"], 400), (["curser": next], 400),
                ] { #expect(try backend.ask("GET", "changes", query).status == status, "\(query)") }
            }
        }
    }
}
