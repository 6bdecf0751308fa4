import Changelog
import DeliveryKit
import HealthModel
import MessageBus
import Protocol
import SQLite
import TestSupport
import Testing
import UploaderStage

/// A destination's lists name each element once, whatever became of its versions.
@Suite struct DeadLetterListTests {
    private func letters(_ rig: UploaderRig) throws -> [DeadLetter] {
        try DeadLetter.page(in: rig.rig.store.database, RepairSelection(), limit: 100)
    }

    private func listed(_ rig: UploaderRig) throws -> [String] {
        try letters(rig).map { "\($0.number) \($0.id) \($0.version) \($0.reason) \($0.tries)" }
    }

    /// The day changes, and the uploader pulls its new version.
    private func change(_ day: Int64, to version: Int64, _ rig: UploaderRig) throws {
        var row = UploaderRig.row(day)
        row.sequence = SequenceNumber(version)
        let head = head(version, store: "consolidator")
        try rig.rig.hear(beat("consolidator", head))
        let pull = try #require(rig.rig.pulls.first { $0.query["until"]?.int == version })
        try rig.rig.answer(
            pull, .pages([["rows": [row.wireValue], "through": .integer(version), "head": Value(head)]]))
    }

    private func refuse(_ day: Int64, _ reason: String, _ rig: UploaderRig) throws {
        try rig.reply(422, #"{"refused":[{"id":"\#(UploaderRig.date(day))","reason":"\#(reason)"}]}"#)
    }

    @Test func anElementIsOneLetterWithItsNewestVersion() throws {
        let rig = try UploaderRig()
        try rig.add(1...1)
        try refuse(1, "first", rig)
        let first = try #require(try letters(rig).first)
        for (version, reason) in [(Int64(5), "second"), (7, "third")] {
            rig.rig.now += .seconds(60)
            try change(1, to: version, rig)
            try refuse(1, reason, rig)
        }
        #expect(try listed(rig) == ["1 2025-03-11 7 third 3"] && rig.detail("deadLetters") == 1)
        let last = try #require(try letters(rig).first)
        #expect(last.firstTried == first.firstTried && last.lastTried == first.firstTried + .seconds(120))
        try change(1, to: 9, rig)
        try rig.serve()
        #expect(try letters(rig).isEmpty && rig.detail("deadLetters") == 0)
    }

    /// While a letter is sent again, its element may be refused in a newer version: that isn't forgotten with the old
    /// one, whose row is gone.
    @Test func aRetryForgetsOnlyTheVersionItLookedFor() throws {
        let rig = try UploaderRig()
        try rig.add(1...1)
        try refuse(1, "first", rig)
        try rig.rig.turn { _ = try rig.rig.stage.repair(RepairRequest(id: "r", action: "retry"), $0) }
        try rig.rig.turn { _ = try rig.rig.stage.repaired(RepairRequest(id: "r", action: "retry"), $0) }
        let retry = try #require(rig.rig.pulls.first { $0.query["until"]?.int == 1 })
        try change(1, to: 5, rig)
        try refuse(1, "second", rig)
        let head = Value(head(5, store: "consolidator"))
        try rig.rig.answer(retry, .pages([["rows": [], "through": 1, "head": head]]))
        try rig.rig.turn()
        #expect(try listed(rig) == ["1 2025-03-11 5 second 2"])
    }

    /// What a destination settles without having been sent it is no dead letter either.
    @Test func anOvertakenVersionTakesTheLetterAway() throws {
        let rig = try UploaderRig()
        try rig.add(1...1)
        try refuse(1, "odd", rig)
        try change(1, to: 5, rig)
        try rig.rig.reply(
            rig.request().effect, DeliveryReply.overtaken(.init(counts: .init(known: 1), overtaken: [0])))
        #expect(try letters(rig).isEmpty)
    }

    @Test func aConflictIsListedInItsNewestVersion() throws {
        let rig = try UploaderRig()
        func conflict() throws {
            try rig.rig.reply(
                rig.request().effect,
                DeliveryReply.proven(
                    .init(
                        counts: .init(known: 1), conflicts: [UploaderRig.date(1)], generation: "generation-1",
                        sequence: 0)))
        }
        try rig.add(1...1)
        try conflict()
        try change(1, to: 5, rig)
        try conflict()
        let listed = try DeliveryConflict.page(in: rig.rig.store.database, limit: 9)
        #expect(try listed.map(\.version) == [5] && listed.map(\.seen) == [2] && rig.detail("conflicts") == 1)
    }

    /// Earlier releases kept an entry for each version.
    @Test func anEarlierReleasesListsNameEachElementOnce() throws {
        let folder = try TemporaryFolder()
        let database = try Database(path: folder.path + "/state.sqlite")
        try database.execute(
            """
            CREATE TABLE dead_letters(
                number INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL, metric TEXT NOT NULL, id TEXT NOT NULL,
                version INTEGER NOT NULL, reason TEXT NOT NULL, status INTEGER, last INTEGER,
                tries INTEGER NOT NULL DEFAULT 1, UNIQUE (user, metric, id, version));
            INSERT INTO dead_letters(number, at, last, user, metric, id, version, reason, status, tries) VALUES
                (1, 10, 15, 'me', 'daily', 'a', 1, 'first', 400, 2), (2, 20, NULL, 'me', 'daily', 'a', 9, 'third', 422, 1),
                (3, 5, 30, 'me', 'daily', 'a', 4, 'second', 400, 4), (4, 7, 7, 'you', 'daily', 'a', 3, 'other', NULL, 1),
                (5, 8, 8, 'me', 'steps', 'a', 2, 'other', NULL, 1);
            CREATE TABLE conflicts(
                number INTEGER PRIMARY KEY, user TEXT NOT NULL, metric TEXT NOT NULL, id TEXT NOT NULL,
                version INTEGER NOT NULL, at INTEGER NOT NULL, last INTEGER NOT NULL, seen INTEGER NOT NULL,
                UNIQUE (user, metric, id, version));
            INSERT INTO conflicts VALUES (1, 'me', 'daily', 'a', 1, 10, 15, 2), (2, 'me', 'daily', 'a', 3, 20, 25, 1);
            """)
        #expect(try DeadLetter.count(in: database) == 3 && DeliveryConflict.count(in: database) == 1)
        for _ in 0..<2 { try database.transaction { try DeliveryTables.createTables(in: database) } }
        let letters = try DeadLetter.page(in: database, RepairSelection(), limit: 9)
        #expect(
            letters.map { "\($0.number) \($0.user) \($0.metric) \($0.version)" }
                == ["2 me daily 9", "4 you daily 3", "5 me steps 2"])
        let merged = try #require(letters.first)
        #expect(merged.reason == "third" && merged.status == 422 && merged.tries == 7)
        #expect(merged.firstTried.microseconds == 5 && merged.lastTried.microseconds == 30)
        let conflicts = try DeliveryConflict.page(in: database, limit: 9)
        #expect(conflicts.map(\.version) == [3] && conflicts.map(\.seen) == [3])
        #expect(conflicts.map(\.firstSeen.microseconds) == [10])
    }
}
