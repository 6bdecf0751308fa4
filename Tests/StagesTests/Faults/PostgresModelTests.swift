import DeliveryKit
import HealthModel
import PostgreSQL
import PostgresStage
import PostgresStore
import Simulation
import StageKit
import TestSupport
import Testing

/// The model of PostgreSQL, and the real writer on a real server, do the same.
@Suite(.inTurn, .enabled(if: PostgresServer.isThere, Comment(rawValue: PostgresServer.hint)))
struct PostgresModelTests {
    @Test func theModelDoesWhatTheServerDoes() throws {
        let server = try PostgresServer()
        var seen: Set<String> = []
        for seed in 1...8 as ClosedRange<UInt64> {
            let script = try PostgresScript(seed: seed, server)
            try script.run(steps: 50)
            seen.formUnion(script.outcomes)
        }
        // Scripts in which nothing happens prove nothing.
        #expect(
            seen == ["created", "updated", "known", "refused", "conflict", "manual", "other", "failed"], "\(seen)")
    }
}

/// A random sequence of requests, made of both.
final class PostgresScript {
    /// What kinds of things happened.
    var outcomes: Set<String> = []

    private let seed: UInt64
    private var random: SeededRandom
    private let writer: PostgresWriter
    private let mine: PostgresConnection
    private let world: SimulatedWorld
    private let model: PostgresModel
    private var hasCopy = false
    private var step = 0
    /// The names of generations, in the order in which they were heard.
    private var real: [String] = []
    private var modelled: [String] = []
    /// What answers said of the database: the place of its generation in these lists, and its sequence.
    private var heard: [(generation: Int, sequence: Int64)] = []

    static let users = ["me", "anna"]

    init(seed: UInt64, _ server: PostgresServer) throws {
        self.seed = seed
        random = SeededRandom(seed: seed)
        writer = PostgresWriter(
            url: DatabaseURL(file: nil, environment: server.url()),
            schema: try #require(PostgresSchema("seed_\(seed)")), timeout: 30)
        mine = try PostgresConnection(url: server.url(), timeout: 30, program: "test")
        world = try SimulatedWorld(seed: seed, wall: 0)
        model = PostgresModel(in: world)
    }

    func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    func one<Element>(of all: [Element]) -> Element { all[pick(0...all.count - 1)] }

    func run(steps: Int) throws {
        try compare()
        for step in 1...steps {
            self.step = step
            switch pick(0...13) {
            case 0...6: try deliver(samples())
            case 7...10: try deliver(documents())
            case 11: try replace()
            case 12: try restore()
            default: break
            }
            try compare()
        }
    }

    // MARK: Steps

    private func deliver(_ group: DeliveryGroup, refreshing: Bool? = nil) throws {
        guard group.count > 0 else { return }
        let first = pick(0...1) == 0 ? 0 : pick(0...group.count - 1)
        let part = first..<pick(first + 1...group.count)
        var last = heard.last
        switch pick(0...9) {
        case 0: last = nil
        case 1: last = heard.isEmpty ? nil : one(of: heard)
        // The database that is there is an older copy.
        case 2: last?.sequence += 3
        default: break
        }
        let refresh = refreshing ?? (pick(0...9) == 0)
        let said = try ask { generations in
            DeliveryRequest(
                group: group, part: part, deviceId: "d", syncedAt: 0, refreshToken: refresh,
                seen: SeenBackend(
                    generation: last.map { generations[$0.generation] }, sequence: last.map(\.sequence)))
        }
        switch said {
        case .delivered(.proven(let answer)): hear(answer)
        case .delivered(.otherBackend(_, let answer)):
            outcomes.insert("other")
            hear(answer)
        case .failed: outcomes.insert("failed")
        default: Issue.record("seed \(seed), step \(step): \(said)")
        }
    }

    private func hear(_ answer: DeliveryAnswer) {
        if let generation = answer.generation.flatMap({ Int($0) }), let sequence = answer.sequence {
            heard.append((generation, sequence))
        }
        let counts = answer.counts ?? .init()
        if counts.created > 0 { outcomes.insert("created") }
        if counts.updated > 0 { outcomes.insert("updated") }
        if counts.known > 0 { outcomes.insert("known") }
        if counts.refused > 0 { outcomes.insert("refused") }
        if !answer.conflicts.isEmpty { outcomes.insert("conflict") }
    }

    /// Ends the writer's connections, and waits until they are gone.
    private func disconnect() throws {
        try mine.execute(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'healthbus'")
    }

    /// What is asked first fails: the connection is gone.
    private func fail() throws {
        if pick(0...1) == 0 { return try deliver(samples(), refreshing: false) }
        let said =
            try pick(0...1) == 0 ? ask { _ in HoldingsRequest() } : ask { _ in HeldQuestion(list: .days, user: "me") }
        #expect(said == .failed(nil))
    }

    private func replace() throws {
        try mine.execute("DROP SCHEMA seed_\(seed) CASCADE")
        try disconnect()
        model.forget()
        try fail()
    }

    /// The first time, only a copy is made.
    private func restore() throws {
        let tables = ["samples", "documents", "meta"]
        if hasCopy {
            for table in tables {
                try mine.execute(
                    "TRUNCATE seed_\(seed).\(table); INSERT INTO seed_\(seed).\(table) TABLE kept_\(seed).\(table)")
            }
            try disconnect()
        }
        #expect(model.rollBack() == hasCopy)
        try mine.execute("DROP SCHEMA IF EXISTS kept_\(seed) CASCADE; CREATE SCHEMA kept_\(seed)")
        for table in tables { try mine.execute("CREATE TABLE kept_\(seed).\(table) AS TABLE seed_\(seed).\(table)") }
        if hasCopy { try fail() }
        hasCopy = true
    }

    // MARK: Comparing

    private func compare() throws {
        let counts = pick(0...1) == 0
        _ = try ask { _ in HoldingsRequest(refreshToken: false, countsRows: counts) }
        var question = HeldQuestion(list: one(of: HeldList.allCases), user: one(of: Self.users), limit: pick(1...4))
        if pick(0...1) == 0 { question.after = one(of: Self.ids) }
        while case .page(let page) = try ask({ _ in question }), let next = page.next { question.cursor = next }
        let (there, here) = (try rows(), try model.rows.mapValues { try Self.plain($0) })
        for name in Set(there.keys).union(here.keys).sorted() {
            try #require(there[name] == here[name], "seed \(seed), step \(step): \(name)")
        }
        #expect(model.contents().count == there.values.count { $0["deleted"] == false })
    }

    /// With numbers in the form that JSON gives them.
    private static func plain(_ row: PostgresTables.Row) throws -> Value {
        var columns = row.columns
        (columns["version"], columns["deleted"]) = (.integer(row.version), .bool(row.isDeleted))
        return try Value(json: Value.object(columns).json().utf8)
    }

    /// The rows on the server, in the form of the model's.
    private func rows() throws -> [String: Value] {
        func micro(_ time: String) -> String { "'\(time)', (extract(epoch FROM \(time)) * 1000000)::bigint" }
        let shared = "'version', version, 'deleted', deleted, \(micro("start_time")), \(micro("end_time"))"
        let texts = ["type", "value", "unit", "source", "manual", "healthkit_uuid", "metadata", "payload"]
        var rows: [String: Value] = [:]
        for query in [
            """
            SELECT 'samples ' || user_id || ' ' || id,
                jsonb_build_object(\(shared), \(texts.map { "'\($0)', \($0)" }.joined(separator: ", ")))
            FROM seed_\(seed).samples
            """,
            """
            SELECT kind || 's ' || user_id || ' ' || id, jsonb_build_object(\(shared), 'date', date, 'body', body)
            FROM seed_\(seed).documents
            """,
        ] {
            let found = try mine.execute(query, [])
            for row in 0..<found.count {
                let columns = try Value(json: (found.text(row, 1) ?? "").utf8).object ?? [:]
                rows[found.text(row, 0) ?? ""] = .object(columns.filter { !$0.value.isNull })
            }
        }
        return rows
    }

    /// An answer without what can't be the same: generations by their order, and failures without their texts.
    private enum Said: Equatable {
        case delivered(DeliveryReply)
        case holds(BackendHoldings)
        case page(HeldPage)
        case failed(RetryPolicy.Outcome?)
    }

    /// - Parameter request: makes the request, with the names that generations have on one side.
    private func ask(_ request: ([String]) -> any Sendable) throws -> Said {
        let there = Self.said(writer.perform(Effect(id: 1, request: request(real))), &real)
        let here = Self.said(try model.reply(to: Effect(id: 1, request: request(modelled))), &modelled)
        try #require(there == here, "seed \(seed), step \(step)")
        return there
    }

    private static func said(_ reply: (any Sendable)?, _ generations: inout [String]) -> Said {
        func plain(_ generation: String?) -> String? {
            guard let generation else { return nil }
            if !generations.contains(generation) { generations.append(generation) }
            return generations.firstIndex(of: generation).map { "\($0)" }
        }
        func plain(_ answer: DeliveryAnswer) -> DeliveryAnswer {
            var answer = answer
            answer.generation = plain(answer.generation)
            answer.conflicts.sort()
            return answer
        }
        if let reply = reply as? DeliveryReply {
            return switch reply {
            case .proven(let answer): .delivered(.proven(plain(answer)))
            case .otherBackend(let generation, let answer):
                .delivered(.otherBackend(plain(generation) ?? "", plain(answer)))
            case .failed(let failure): .failed(failure.outcome)
            default: .delivered(reply)
            }
        }
        if case .holds(var holdings)? = reply as? HoldingsReply {
            holdings.generation = plain(holdings.generation) ?? ""
            return .holds(holdings)
        }
        guard case .page(var page)? = reply as? HeldReply else { return .failed(nil) }
        page.generation = plain(page.generation)
        return .page(page)
    }
}
