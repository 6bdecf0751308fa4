import Configuration
import DeliveryKit
import Foundation
import HealthModel
import Inspection
import Monitoring
import Protocol
import SQLite
import Terminal
import TestSupport
import Testing

@Suite struct DestinationReportTests {
    private func details(blocked: String?, why: String?) -> UploaderDetails {
        UploaderDetails(
            deadLetters: 0, droppedLetters: 0, delivered: [:], lastDelivered: [:], delays: [:],
            delayBuckets: .init(bounds: [], metrics: [:]), answers: .init(created: 0, updated: 0, known: 0),
            blocked: blocked, waitsUntil: nil, held: 0,
            backend: .init(
                acceptance: .unknown, isCompared: false, compared: nil, result: nil, missing: nil, check: nil, why: why),
            paused: false, path: nil, waiting: 0)
    }

    /// With nothing to deliver, only the comparison shows that the database isn't there.
    @Test func aDestinationThatCannotBeReachedIsReportedBeforeThereIsAnythingToDeliver() {
        let why = details(blocked: nil, why: "there is no database 'healht'").unreachable
        #expect(details(blocked: "no connection", why: "no connection").unreachable == nil)
        let row = DestinationReport.Row(
            name: "postgres", plugin: "postgres", place: "db/healht", state: "ready",
            behind: nil, rate: nil, delivered: 0,
            lastDelivered: nil, deadLetters: 0, blocked: nil, unreachable: why)
        let report = DestinationReport(rows: [row], now: Date(timeIntervalSince1970: 0))
        #expect(
            report.text(for: Terminal(isTerminal: false))
                .hasSuffix("\npostgres can't be reached: there is no database 'healht'\n"))
        #expect(report.value.array?.first?["unreachable"] == "there is no database 'healht'")
    }

    /// What nobody can prove is said beside what was delivered.
    @Test(arguments: [true, false]) func trustIsSaidWhereDeliveryIs(onTrust: Bool) {
        func text(_ last: String?) -> String {
            let row = DestinationReport.Row(
                name: "fhir", plugin: "fhir", place: "h", state: "ready", behind: nil, rate: nil, delivered: 7,
                lastDelivered: last, onTrust: onTrust, deadLetters: 0, blocked: nil, unreachable: nil)
            return DestinationReport(rows: [row], now: Date(timeIntervalSince1970: 60))
                .text(for: Terminal(isTerminal: false))
        }
        #expect(text("1970-01-01T00:00:00Z").contains(", on trust\n") == onTrust)
        #expect(!text(nil).contains("on trust"))
    }

    /// For a stopped destination, its file says whether what it delivered is proven.
    @Test func aFileSaysWhetherDeliveryIsProven() throws {
        let folder = try TemporaryFolder()
        let database = try Database(path: folder.path + "/state.sqlite")
        try database.transaction { try DeliveryTables.createTables(in: database) }
        #expect(try !DeliveryTables.isTrusted(in: database))
        try database.execute(
            """
            INSERT INTO deliveries VALUES ('steps', 1, 1);
            INSERT INTO backend VALUES ('known', '{"address":"h","generation":null}');
            """)
        #expect(try DeliveryTables.isTrusted(in: database))
        try database.execute("UPDATE backend SET value = '{\"generation\":\"g\"}' WHERE key = 'known'")
        #expect(try !DeliveryTables.isTrusted(in: database))
    }

    /// A family without data isn't stale.
    @Test func theStalestHasData() {
        func metric(_ name: String, _ sample: String?, synced: String?) -> Value {
            ["metric": .string(name), "lastSample": Value(sample), "lastSynced": Value(synced)]
        }
        let metrics = [
            metric("hydration", nil, synced: nil), metric("steps", "2025-04-02", synced: "2025-04-02"),
            metric("sleep", "2025-04-01", synced: "2025-04-01"),
        ]
        #expect(StatusReport.stalest(metrics)["metric"] == "sleep")
        #expect(StatusReport.stalest([metric("body", "2025-04-01", synced: nil)] + metrics)["metric"] == "body")
        #expect(StatusReport.stalest([metrics[0]]).isNull)
    }

    @Test func moreDocumentsThanWereCountedAreShownAsMore() {
        func text(_ samples: Int, isMore: Bool) -> String {
            let behind: Value = [
                "samples": .integer(Int64(samples)), "isMore": .bool(isMore), "documents": 7, "files": .null,
                "seconds": .null,
            ]
            let row = DestinationReport.Row(
                name: "mine", plugin: "uploader", place: "h", state: "ready", behind: behind.read(), rate: nil,
                delivered: 0, lastDelivered: nil, deadLetters: 0, blocked: nil, unreachable: nil)
            return DestinationReport(rows: [row], now: Date(timeIntervalSince1970: 0))
                .text(for: Terminal(isTerminal: false))
        }
        #expect(text(0, isMore: true).contains("> 7 documents"))
        #expect(text(3, isMore: true).contains("> 3 samples, 7 documents"))
        #expect(!text(3, isMore: false).contains(">"))
    }

    @Test func aDestinationThatTheConfigurationLacksIsSaidIfItHasDelivered() throws {
        let folder = try TemporaryFolder()
        let state = StateFolder(path: folder.path)
        func make(_ name: String, _ statements: String) throws {
            try StateFolder.make(state.instance(name))
            let database = try Database(path: state.database(name))
            try database.execute("CREATE TABLE cursors(key TEXT PRIMARY KEY, value TEXT NOT NULL)")
            try database.execute(statements)
        }
        let table = "CREATE TABLE deliveries(metric TEXT PRIMARY KEY, last INTEGER, count INTEGER);"
        try make("postgres", table + "INSERT INTO deliveries VALUES('steps', 1, 2)")
        // It delivers figures that it doesn't count.
        try make("home-assistant", table + "INSERT INTO cursors VALUES('consolidator', '{}')")
        try make("uploader", table + "INSERT INTO deliveries VALUES('steps', 1, 2)")
        try make("unused", table)
        // A handler consumes, but doesn't deliver.
        try make("walks", "INSERT INTO cursors VALUES('observer', '{}')")
        try StateFolder.make(state.instance("empty"))
        #expect(FormerDestinations.found(in: state, besides: ["uploader"]) == ["home-assistant", "postgres"])
        let notices = FormerDestinations.notices(in: state, besides: ["uploader", "home-assistant"])
        #expect(notices.count == 1 && notices.first?.contains(state.instance("postgres")) == true, "\(notices)")
    }
}
