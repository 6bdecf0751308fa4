import DeliveryKit
import HealthModel
import PostgreSQL
import PostgresStage
import PostgresStore
import StageKit
import TestSupport
import Testing

extension PostgresTests {
    /// What the tables say they hold, id by id.
    @Suite struct HeldTests {
        private let server: PostgresServer
        private let store: PostgresStore
        private let writer: PostgresWriter

        init() throws {
            server = try PostgresServer()
            let schema = try #require(PostgresSchema("healthbus"))
            store = try PostgresStore(url: server.url(), schema: schema, timeout: 30, program: "test")
            writer = PostgresWriter(
                url: DatabaseURL(file: nil, environment: server.url()), schema: schema, timeout: 30)
        }

        private func sql(_ statements: String) throws {
            try PostgresConnection(url: server.url(), timeout: 30, program: "test").execute(statements)
        }

        private func page(_ question: HeldQuestion) throws -> HeldPage {
            let reply = try #require(writer.perform(Effect(id: 1, request: question)) as? HeldReply)
            guard case .page(let page) = reply else {
                Issue.record("\(reply)")
                return HeldPage(rows: [])
            }
            return page
        }

        /// All pages.
        private func rows(_ list: HeldList, user: String = "me", after: SampleID? = nil, limit: Int = 3) throws
            -> [HeldPage.Row]
        {
            var question = HeldQuestion(list: list, user: user, after: after, limit: limit)
            var rows: [HeldPage.Row] = []
            while true {
                let page = try page(question)
                #expect(page.rows.count <= limit)
                #expect(try page.generation == store.identity().generation)
                rows += page.rows
                guard let next = page.next else { return rows }
                question.cursor = next
            }
        }

        private func content(_ page: SamplePage, _ row: Int) -> Int64 {
            ContentNumber.sample(
                type: ContentNumber.text(page.typeName(row)), start: page.startOf(row), end: page.endOf(row),
                value: page.value[row], source: ContentNumber.text(page.originOf(row).sourceName))
        }

        @Test func samplesInTheOrderOfTheirIDs() throws {
            let page = madePage(0..<10, version: 5, value: 60.25)
            _ = try store.put(
                PostgresBatch(
                    user: "me", samples: page, deletions: [.init(id: page.ids[4], version: 6)]), seen: nil)
            _ = try store.put(PostgresBatch(user: "other", samples: madePage(0..<2, user: "other")), seen: nil)
            let expected = (0..<10).map { row in
                HeldPage.Row(
                    id: page.ids[row],
                    held: row == 4
                        ? .init(version: 6, isDeleted: true)
                        : .init(version: 5, isDeleted: false, content: content(page, row)))
            }
            #expect(try rows(.samples) == expected)
            #expect(try rows(.samples, after: page.ids[6]) == Array(expected[7...]))
            #expect(try rows(.samples, user: "nobody").isEmpty)
        }

        @Test func anEditedValueHasAnotherContent() throws {
            let page = madePage(0..<3)
            _ = try store.put(PostgresBatch(user: "me", samples: page), seen: nil)
            let before = try rows(.samples)
            for edit in ["value = 61", "source = 'someone'", "end_time = end_time + interval '1 ms'", "type = 'x'"] {
                try sql(
                    "BEGIN; CREATE TABLE kept AS SELECT * FROM healthbus.samples; UPDATE healthbus.samples SET \(edit) "
                        + "WHERE id = '\(page.ids[1])'; COMMIT")
                let after = try rows(.samples)
                #expect(after[0] == before[0] && after[2] == before[2], "\(edit)")
                #expect(after[1].held.content != before[1].held.content, "\(edit)")
                try sql("DELETE FROM healthbus.samples; INSERT INTO healthbus.samples TABLE kept; DROP TABLE kept")
            }
            #expect(try rows(.samples) == before)
        }

        @Test func documents() throws {
            let bodies = (1...4).map { #"{"date":"2025-03-0\#($0)","steps":7.5,"version":3,"hours":[1,2.0]}"# }
            _ = try store.put(
                PostgresBatch(
                    user: "me",
                    documents: bodies.enumerated().map {
                        PostgresDocument(kind: .day, id: "2025-03-0\($0 + 1)", version: 3, body: $1)
                    } + [PostgresDocument(kind: .day, id: "2025-03-09", version: 4, body: nil)]), seen: nil)
            let found = try rows(.days)
            #expect(found.map(\.name) == (1...4).map { "2025-03-0\($0)" } + ["2025-03-09"])
            #expect(
                try found.map(\.held)
                    == bodies.map {
                        HeldVersion(version: 3, isDeleted: false, content: try ContentNumber.document(json: $0.utf8))
                    } + [HeldVersion(version: 4, isDeleted: true)])
            #expect(try rows(.nights).isEmpty && rows(.workouts).isEmpty)
            try sql("UPDATE healthbus.documents SET body = jsonb_set(body, '{steps}', '8') WHERE id = '2025-03-02'")
            let edited = try rows(.days)
            #expect(edited.indices.filter { edited[$0] != found[$0] } == [1])
        }

        @Test func aServerThatIsAwayIsAskedLater() throws {
            let away = PostgresWriter(
                url: DatabaseURL(
                    file: nil, environment: "postgresql://anna:secret@127.0.0.1:\(try freePort())/health"),
                schema: try #require(PostgresSchema("healthbus")), timeout: 5)
            let reply = try #require(
                away.perform(Effect(id: 1, request: HeldQuestion(list: .samples, user: "me"))) as? HeldReply)
            guard case .later(let why, _) = reply else {
                Issue.record("\(reply)")
                return
            }
            #expect(!why.contains("secret"))
        }
    }
}
