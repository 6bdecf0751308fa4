import Configuration
import Foundation
import HealthModel
import Inspection
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
