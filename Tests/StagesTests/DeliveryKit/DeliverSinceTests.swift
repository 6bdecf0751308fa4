import DeliveryKit
import HealthModel
import Protocol
import TestSupport
import Testing

/// `deliverSince` holds back samples and documents. The tests for samples are in `ColumnsDeliveryTests`.
@Suite struct DeliverSinceTests {
    @Test(arguments: [
        ("2024-01-02", 1_704_153_600, "2024-01-02"), ("2024-01-02T00:00:00+01:00", 1_704_150_000, "2024-01-02"),
        ("2024-01-02T23:30:00-05:00", 1_704_256_200, "2024-01-02"), ("1969-12-31", -86_400, "1969-12-31"),
    ])
    func aDateOrATime(_ text: String, _ seconds: Int64, _ day: String) throws {
        let since = try #require(DeliverSince(text))
        #expect(since.moment == Instant(seconds: seconds) && since.day.description == day)
    }

    @Test(arguments: ["", "soon", "2024-02-30", "2024-01-01T00:00:00"]) func neither(_ text: String) {
        #expect(DeliverSince(text) == nil)
    }

    @Test func aMomentHasADateInUTC() {
        #expect(DeliverSince(Instant(seconds: 86_399)).day == LocalDay(number: 0))
        #expect(DeliverSince(Instant(seconds: 86_400)).day == LocalDay(number: 1))
        #expect(DeliverSince(Instant(seconds: -1)).day == LocalDay(number: -1))
    }

    /// Days 1 and 2 are too old, so the stage skips them.
    @Test func earlierDaysStayHere() throws {
        let since = DeliverSince(Instant(seconds: 3 * 86_400))
        let uploader = try UploaderRig(lives: [.init(deliverSince: since), .init(deliverSince: since), .init()])
        try uploader.add(1...4)
        #expect(try uploader.dates(uploader.request().request) == [UploaderRig.date(3), UploaderRig.date(4)])
        try uploader.serve()
        #expect(try uploader.delivered == 2 && uploader.frontier() == 4 && uploader.detail("waiting") == 0)
        #expect(try uploader.detail("keptLocal") == 0, "only samples are counted")

        try uploader.rig.restart()
        try uploader.add(1...4)
        #expect(uploader.uploads.isEmpty)
        // Without the option, all four days are delivered.
        try uploader.rig.restart()
        try uploader.add(1...4)
        try uploader.serve()
        #expect(uploader.delivered == 4)
    }

    /// Samples that are read again are counted once.
    @Test func whatStaysHereIsCountedOnce() throws {
        let uploader = try SamplesRig(.init(deliverSince: DeliverSince(Instant(seconds: 4))))
        try uploader.add(.other, .other, .other, .other, .other)
        #expect(try uploader.detail("keptLocal") == 3 && uploader.frontier() == 5)
        // A person has samples delivered again, and the process restarts before they are read.
        var request = RepairRequest(id: "a", action: "replay")
        request.since = 1
        try uploader.rig.turn { _ = try uploader.rig.stage.repair(request, $0) }
        #expect(try uploader.frontier() == 1)
        try uploader.rig.restart()
        try uploader.release()
        #expect(try uploader.detail("keptLocal") == 3 && uploader.frontier() == 5)
        // The observer's store is restored from a backup.
        try uploader.restore()
        #expect(try uploader.detail("keptLocal") == 3 && uploader.frontier() == 5)
    }

    private func row(_ number: Int64, _ kind: String?, day: Int?) -> ChangedRow {
        ChangedRow(
            sequence: SequenceNumber(number), key: "events/me/\(number)", topic: "events.x", user: "me", day: day,
            body: kind.map { ["id": .string("\(number)"), "kind": .string($0), "event": ["id": .string("\(number)")]] })
    }

    /// A document is delivered whichever day it belongs to now, unless it was too old in every zone; so a change of zone
    /// leaves nothing behind at the destination.
    @Test(arguments: [(2, false), (3, true)])
    func aChangeOfZoneMovesNothingAcrossTheLimit(day: Int, isRecent: Bool) throws {
        func moved(_ number: Int64, _ kind: String, to other: Int, at time: String) -> ChangedRow {
            ChangedRow(
                sequence: SequenceNumber(number), key: "events/me/\(number)", topic: "events.x", user: "me", day: other,
                body: [
                    "id": .string("\(number)"), "kind": .string(kind),
                    "event": ["id": .string("\(number)"), "startDate": .string(time), "end": .string(time)],
                ])
        }
        // In Kiritimati, it is 14 hours later than in UTC.
        let time = "1970-01-0\(day)T10:30:00Z"
        for other in [day - 2, day - 1, day] {
            let rows = [moved(1, "night", to: other, at: time), moved(2, "workout", to: other, at: time)]
            let groups = try DeliveryGroup.groups(
                documents: [ChangesPage(rows: rows, from: .beginning, through: 2)], from: "x")
            let kept = groups.compactMap { $0.recent(since: DeliverSince(Instant(seconds: 3 * 86_400))).group }
            #expect(groups.count == 2 && kept.count == (isRecent ? 2 : 0))
        }
    }

    @Test func deletionsOfOldSamplesAreDelivered() throws {
        var page = SamplePage()
        page.types = ["A"]
        page.origins = [Origin(sourceName: "Watch")]
        for (sequence, flags) in [(1, SampleFlags()), (2, .deleted)] {
            page.ids.append(SampleID(high: UInt64(sequence), low: 7))
            page.sequence.append(Int64(sequence))
            page.type.append(0)
            page.start.append(0)
            page.end.append(1)
            page.value.append(1)
            page.origin.append(0)
            page.flags.append(flags)
        }
        let group = DeliveryGroup(
            metric: .other, user: "me", content: .samples(page), batch: DeliveryBatch(count: page.count))
        let (kept, older) = group.recent(since: DeliverSince(Instant(seconds: 4)))
        #expect(older == 1 && kept?.count == 1 && kept?.deletes(0) == true)
    }

    /// What they delete may have been delivered before.
    @Test func nightsAndWorkoutsOfEarlierDaysStayHereButNotTheirDeletions() throws {
        let rows = [
            row(1, "night", day: 2), row(2, "night", day: 3), row(3, "workout", day: 2), row(4, "workout", day: 3),
            row(5, nil, day: 2), row(6, nil, day: nil),
        ]
        let groups = try DeliveryGroup.groups(
            documents: [ChangesPage(rows: rows, from: .beginning, through: 6)], from: "x")
        let kept = groups.compactMap { $0.recent(since: DeliverSince(Instant(seconds: 3 * 86_400))).group }
        #expect(groups.map(\.count) == [4, 4])
        for group in kept {
            let ids = (0..<group.count).map { group.element($0).id }
            #expect(ids == (group.metric == .sleep ? ["2", "5", "6"] : ["4", "5", "6"]))
            #expect(group.batch.next == 0..<3)
        }
        #expect(kept.count == 2)
        let none = groups.compactMap { $0.recent(since: DeliverSince(Instant(seconds: 4 * 86_400))).group }
        #expect(none.map(\.count) == [2, 2])
    }
}
