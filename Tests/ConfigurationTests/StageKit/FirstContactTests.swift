import Changelog
import Foundation
import HealthModel
import MessageBus
import Protocol
import StageKit
import TestSupport
import Testing

/// A consumer that has never received anything from its upstream.
@Suite struct FirstContactTests {
    /// Its first window may begin far from 0, because it takes live data first and leaves the rest for later; so the
    /// request names the store that its sequence numbers belong to.
    @Test func theFirstRequestNamesTheStoreOfTheHint() throws {
        let folder = NSTemporaryDirectory() + "healthbus-contact-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let producer = try StageDatabase(path: folder + "/producer")
        let consumer = try StageDatabase(path: folder + "/consumer")
        try consumer.transaction {
            try KeyedChangelog.createTables(in: consumer.database)
            try Upstream.createTables(in: consumer.database)
        }
        let turn = Turn(
            now: 0, monotonic: 0, log: .silent, stage: consumer, changelog: try KeyedChangelog(consumer),
            identifiers: .init())
        let upstream = Upstream("producer", query: .changes(), backfillBeyond: 200_000)
        try upstream.open(turn)
        upstream.hear(producer.head, limit: AnchorVector(base: producer.head.sequence), turn)
        upstream.pump(turn)
        let query = try #require(turn.takePulls().first).query
        let place = try #require(Value.object(query).read(PullPlace.self))
        #expect(try producer.judge(place) == .good)
        // Another store's sequence numbers are still recognized as such.
        #expect(try consumer.judge(place) == .reset)
    }
}
