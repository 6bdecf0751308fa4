import Foundation
import HealthModel
import PostgreSQL
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// One stack that delivers over HTTP, to PostgreSQL and to files at the same time.
    @Suite(.enabled(if: PostgresServer.isThere, Comment(rawValue: PostgresServer.hint)))
    struct PostgresBesideOthersTests {
        /// Queries that return the same results in SQLite and PostgreSQL, except for the form of dates and booleans.
        private static let queries = [
            "SELECT date, final, revision, steps, distance_meters, heart_rate_average, sleep_asleep_minutes FROM days ORDER BY 1",
            "SELECT date, hour, steps, heart_rate FROM hours ORDER BY 1, start_date",
            "SELECT id, date, main, asleep_minutes, deep_minutes FROM nights ORDER BY 1",
            "SELECT id, activity, duration_seconds, distance_meters FROM workouts ORDER BY 1",
            "SELECT source, type, samples FROM sources ORDER BY 1, 2",
            "SELECT id, type, value, unit, source, version FROM samples ORDER BY 1",
        ]

        @Test func everyDestinationHasTheSame() async throws {
            let server = try PostgresServer()
            try await withStack { stack in
                let url = try stack.write("url", server.url() + "\n")
                let file = try stack.write(
                    "all.json",
                    """
                    { "instances": {
                        "postgres": { "plugin": "postgres", "configuration": { "urlFile": "\(url)" } },
                        "files": { "plugin": "files", "configuration": { "settleSeconds": 0.2 } } } }
                    """)
                let export = try await stack.generate("export.zip", "--days", "40", "--seed", "5")
                let ended = try await stack.up("--config", file, "--import", export, "--until-idle").ended()
                #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")

                let database = try PostgresConnection(url: server.url(), timeout: 60, program: "test")
                try database.execute("SET search_path = healthbus_views; SET TimeZone = 'UTC'")
                for query in Self.queries {
                    let backend = try await stack.onState("query", query, "--json")
                    #expect(backend.exit == .code(0), "\(query): \(backend.error)")
                    let there = try database.execute("SELECT to_jsonb(r)::text FROM (\(query)) r", [])
                    let wanted = try (0..<there.count).map {
                        try plain(Value(json: Array((there.text($0, 0) ?? "").utf8)))
                    }
                    let found = (try backend.json().array ?? []).map { plain($0) }
                    #expect(!found.isEmpty)
                    #expect(Set(found) == Set(wanted), "\(query)")
                    #expect(found.count == wanted.count, "\(query)")
                }

                let lake = try Lake(stack)
                #expect(try lake.differences() == [])
                let own = try await stack.onState("days", "--json", "--from", "1990-01-01").json().array ?? []
                #expect(own.count >= 40)
                let inDatabase = try database.execute(
                    "SELECT date::text, steps::text FROM days WHERE steps IS NOT NULL", [])
                let steps = Dictionary(
                    (0..<inDatabase.count).map {
                        (inDatabase.text($0, 0) ?? "", inDatabase.text($0, 1).flatMap { Double($0) })
                    },
                    uniquingKeysWith: { $1 })
                let inFiles = Dictionary(
                    try lake.table("user=me/days/year=").map { ($0["date"] ?? "", $0["steps"].flatMap { Double($0) }) },
                    uniquingKeysWith: { $1 })
                for day in own where day["steps"].double != nil {
                    let date = day["date"].string ?? ""
                    #expect(steps[date] == day["steps"].double, "\(date)")
                    #expect(inFiles[date] == day["steps"].double, "\(date)")
                }
            }
        }

        /// A row with its numbers and booleans in the form that SQLite gives them.
        private func plain(_ row: Value) -> String {
            var members: [String] = []
            for (name, value) in (row.object ?? [:]).sorted(by: { $0.key < $1.key }) {
                let text: String
                if let flag = value.bool {
                    text = flag ? "1.0" : "0.0"
                } else if let number = value.double {
                    text = "\(number)"
                } else {
                    text = value.string ?? "-"
                }
                members.append("\(name)=\(text)")
            }
            return members.joined(separator: " ")
        }
    }
}
