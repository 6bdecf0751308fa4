import DeliveryKit
import HealthModel
import PostgreSQL
import PostgresStage
import PostgresStore
import Protocol
import StageKit
import TestSupport
import Testing

extension PostgresTests {
    /// A database that isn't there, or doesn't let us in, is reported clearly, with advice, and without a password.
    @Suite struct WriterFaultTests {
        private let server: PostgresServer

        init() throws { server = try PostgresServer() }

        private func reply(_ url: String, schema: String = "healthbus") throws -> DeliveryReply {
            let writer = PostgresWriter(
                url: DatabaseURL(file: nil, environment: url), schema: try #require(PostgresSchema(schema)), timeout: 5)
            return try #require(writer.perform(try effect(madePage(0..<2))) as? DeliveryReply)
        }

        private func effect(_ page: SamplePage, version: Int64 = 1) throws -> Effect {
            var groups: [DeliveryGroup] = []
            groups = try DeliveryGroup.groups(
                samples: [.init(samples: page, users: ["me"], user: Array(repeating: 0, count: page.count))],
                from: "observer", family: { _ in .other })
            let group = try #require(groups.first)
            return Effect(
                id: 1,
                request: DeliveryRequest(
                    group: group, part: 0..<group.count, deviceId: "d", syncedAt: 0, refreshToken: false))
        }

        private func sql(_ statements: String) throws {
            try PostgresConnection(url: server.url(), timeout: 30, program: "test").execute(statements)
        }

        private func failure(_ reply: DeliveryReply) throws -> DeliveryReply.Failure {
            guard case .failed(let failure) = reply else {
                Issue.record("\(reply)")
                return .init(.taken, why: "")
            }
            return failure
        }

        @Test func taken() throws {
            guard case .proven(let answer) = try reply(server.url()) else {
                Issue.record("it isn't taken")
                return
            }
            #expect(answer.counts == .init(created: 2) && answer.generation != nil && answer.sequence == 1)
        }

        @Test func nobodyListens() throws {
            let port = try freePort()
            let failure = try failure(reply("postgresql://anna:secret@127.0.0.1:\(port)/health"))
            #expect(failure.outcome == .unproven)
            #expect(
                failure.why.contains("127.0.0.1:\(port)/health") && !failure.why.contains("secret"), "\(failure.why)")
        }

        @Test func nobodyAnswers() throws {
            // This server accepts connections but never answers.
            let silent = try CuttingProxy(to: server.port, cutAfter: nil)
            try sql("SELECT 1")
            server.pause()
            defer { server.resume() }
            let begun = ContinuousClock.now
            let failure = try failure(reply(server.url(port: silent.port)))
            #expect(
                failure.outcome == .unproven && failure.why.contains("there was no answer within 5 s"), "\(failure.why)"
            )
            #expect(ContinuousClock.now - begun >= .seconds(5))
        }

        @Test func noSuchDatabase() throws {
            let failure = try failure(reply(server.url(database: "nowhere")))
            guard case .needsPerson(let pause) = failure.outcome else {
                Issue.record("\(failure)")
                return
            }
            #expect(failure.why.contains("3D000") && pause.remedy.contains("createdb"))
        }

        @Test func wrongUser() throws {
            let failure = try failure(reply(server.url(user: "stranger")))
            guard case .refusesToken(false, let pause) = failure.outcome else {
                Issue.record("\(failure)")
                return
            }
            #expect(failure.why.contains("28000") && pause.remedy.contains("HEALTHBUS_POSTGRES_URL"))
        }

        @Test func noRights() throws {
            try sql(
                "CREATE ROLE guest LOGIN; REVOKE ALL ON DATABASE health FROM PUBLIC; GRANT CONNECT ON DATABASE health TO guest"
            )
            let failure = try failure(reply(server.url(user: "guest")))
            guard case .needsPerson(let pause) = failure.outcome else {
                Issue.record("\(failure)")
                return
            }
            #expect(failure.why.contains("42501") && pause.remedy.contains("docs/postgres.md"))
            // The commands are those in the documentation.
            try sql(
                """
                GRANT TEMPORARY ON DATABASE health TO guest;
                CREATE SCHEMA healthbus AUTHORIZATION guest; CREATE SCHEMA healthbus_views AUTHORIZATION guest
                """)
            guard case .proven = try reply(server.url(user: "guest")) else {
                Issue.record("the rights in the document aren't sufficient")
                return
            }
        }

        @Test func readOnly() throws {
            try sql("ALTER DATABASE health SET default_transaction_read_only TO on")
            let failure = try failure(reply(server.url()))
            guard case .needsPerson(let pause) = failure.outcome else {
                Issue.record("\(failure)")
                return
            }
            #expect(failure.why.contains("25006") && pause.remedy.contains("read-only"))
        }

        @Test(arguments: [
            "DROP SCHEMA healthbus CASCADE", "DROP TABLE healthbus.samples CASCADE", "DROP TABLE healthbus.meta",
            "DELETE FROM healthbus.meta",
        ])
        func tablesThatGoAreMadeAgain(_ drop: String) throws {
            let writer = PostgresWriter(
                url: DatabaseURL(file: nil, environment: server.url()),
                schema: try #require(PostgresSchema("healthbus")),
                timeout: 30)
            guard case .proven(let first) = writer.perform(try effect(madePage(0..<2))) as? DeliveryReply else {
                Issue.record("it isn't taken")
                return
            }
            try sql(drop)
            #expect(
                try failure(#require(writer.perform(effect(madePage(0..<2))) as? DeliveryReply)).outcome == .unproven)
            guard case .proven(let second) = writer.perform(try effect(madePage(0..<2))) as? DeliveryReply else {
                Issue.record("it isn't made again")
                return
            }
            #expect(second.generation != first.generation, "so everything is delivered to it again")
        }

        /// Nothing is ever written to a view, so only a comparison notices.
        @Test func viewsThatGoAreMadeAgain() throws {
            let view = PostgresView(name: "days", query: "SELECT id FROM healthbus.documents", columns: ["id"])
            let writer = PostgresWriter(
                url: DatabaseURL(file: nil, environment: server.url()),
                schema: try #require(PostgresSchema("healthbus", views: [view])), timeout: 30)
            let question = Effect(id: 1, request: HoldingsRequest(refreshToken: false, countsRows: false))
            guard case .holds(let before)? = writer.perform(question) as? HoldingsReply else {
                Issue.record("it says nothing")
                return
            }
            try sql("DROP VIEW healthbus_views.days")
            #expect(writer.perform(question) as? HoldingsReply == .holds(before), "nothing is lost")
            try sql("SELECT id FROM healthbus_views.days")
        }

        @Test func aDamagedTableIsForAPerson() throws {
            _ = try reply(server.url())
            try sql("ALTER TABLE healthbus.samples DROP COLUMN unit")
            let failure = try failure(reply(server.url()))
            guard case .needsPerson(let pause) = failure.outcome else {
                Issue.record("\(failure)")
                return
            }
            let statement = #"DROP TABLE "healthbus".samples CASCADE"#
            #expect(pause.remedy.contains("'\(statement)'"))
            try sql(statement)
            guard case .proven(let answer) = try reply(server.url()) else {
                Issue.record("the remedy doesn't help")
                return
            }
            #expect(answer.counts?.created == 2)
        }

        @Test func noURL() throws {
            let writer = PostgresWriter(
                url: DatabaseURL(file: nil, environment: ""), schema: try #require(PostgresSchema("healthbus")),
                timeout: 5)
            guard case .needsPerson(let why) = writer.perform(try effect(madePage(0..<2))) as? DeliveryReply else {
                Issue.record("it isn't said")
                return
            }
            #expect(why.contains("HEALTHBUS_POSTGRES_URL") && why.contains("urlFile"))
        }
    }
}

/// Tests that need no server.
@Suite struct PostgresProblemTests {
    @Test(arguments: [
        ("53100", "needsPerson"), ("57P01", "unproven"), ("40P01", "unproven"), ("22P05", "refused"),
        ("54000", "refused"),
        ("28P01", "refusesToken"), ("25006", "needsPerson"), ("53300", "unproven"), ("57P03", "unproven"),
    ])
    func problems(_ state: String, _ expected: String) {
        let problem = PostgresProblem(PostgresError(.server, state: state, endpoint: "h:1/d", "m"))
        #expect("\(problem.outcome)".hasPrefix(expected), "\(problem.outcome)")
        #expect(problem.why == "h:1/d: m (\(state))")
        let hasRemedy = problem.text != problem.why
        #expect(hasRemedy == ["needsPerson", "refusesToken"].contains(expected), "\(problem.text)")
    }

    /// What a new connection repairs waits for nobody; what only a person can repair comes with the statement to run.
    @Test func missingParts() {
        let missing = ["42P01", "3F000", "42P10", "23514"].map {
            PostgresProblem(PostgresError(.server, state: $0, endpoint: "h:1/d", "m"))
        }
        for problem in missing + [PostgresProblem(PostgresStoreError.noIdentity(name: "healthbus"))] {
            #expect(problem.outcome == .unproven && problem.needsNewConnection, "\(problem.why)")
        }
        let damage = PostgresProblem(PostgresStoreError.damaged(table: "\"healthbus\".samples"))
        #expect(damage.text.contains("'DROP TABLE \"healthbus\".samples CASCADE'"))
    }

    /// A failure before anything was written isn't the data's fault, so nothing becomes a dead letter because of it.
    @Test func whileOpeningNothingIsRefused() {
        let error = PostgresError(.server, state: "22023", endpoint: "h:1/d", "m")
        #expect("\(PostgresProblem(error).outcome)".hasPrefix("refused"))
        #expect(PostgresProblem(error, isOpening: true).outcome == .unproven)
    }
}
