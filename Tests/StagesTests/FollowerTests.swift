import Changelog
import HealthModel
import IngestStage
import ObserverReading
import ObserverStage
import Protocol
import SQLite
import TestSupport
import Testing

/// A stack that follows another one: whatever gets lost or restarts, it has the same samples in the end, and each goes
/// over the wire once.
struct FollowerTests {
    private func filled() throws -> FollowRig {
        let rig = try FollowRig()
        try rig.push((0..<25).map { IngestRig.steps($0, uuid: IngestRig.uuid($0 + 1)) })
        return rig
    }

    @Test func oneCorrectionIsAllThatIsSent() throws {
        let rig = try filled()
        try rig.catchUp()
        #expect(try rig.isSame() && FollowRig.alive(rig.here).count == 25)
        #expect(rig.carried.reduce(0, +) == 25)
        let before = rig.carried.count
        // As an app corrects a sample: it deletes one and saves another.
        try rig.push([IngestRig.steps(3, uuid: IngestRig.uuid(99), value: 40)], deleted: [IngestRig.uuid(4)])
        try rig.catchUp()
        #expect(try rig.isSame() && FollowRig.alive(rig.here).count == 25)
        #expect(rig.carried[before...].reduce(0, +) == 2)
        let sequence = rig.here.store.sequence
        try rig.catchUp()
        #expect(rig.here.store.sequence == sequence && rig.carried.last == 0)
    }

    @Test func aFollowerThatIsKilledGoesOnFromWhatIsStored() throws {
        let rig = try filled()
        _ = try rig.step()
        try rig.restartFollower()
        try rig.catchUp()
        #expect(rig.asked[0] == "" && rig.asked[1].hasPrefix("g1."))
        #expect(try rig.isSame())
        #expect(rig.carried.reduce(0, +) == 25)
    }

    @Test(arguments: 1...6) func anObserverThatRestartsLosesNothing(_ parts: Int) throws {
        let rig = try filled()
        rig.restartAfter = parts
        try rig.catchUp()
        #expect(try rig.isSame() && FollowRig.alive(rig.here).count == 25)
    }

    @Test func lostReceiptsAreAskedForAgain() throws {
        let rig = try filled()
        rig.losses = 5
        try rig.catchUp()
        #expect(try rig.isSame())
        #expect(rig.carried.reduce(0, +) == 25)
    }

    /// The first store was restored from an older copy, or emptied: nothing here is lost.
    @Test func anotherHistoryIsReadFromTheBeginning() throws {
        let rig = try filled()
        try rig.catchUp()
        let sequence = rig.here.store.sequence
        rig.generation = "g2"
        try rig.catchUp()
        // The answer 410 has no news of its own.
        try rig.catchUp()
        #expect(rig.notices.contains(.beginsAnew))
        #expect(try rig.isSame())
        let samples = try FollowRig.alive(rig.here)
        #expect(samples.count == 25 && rig.here.store.sequence == sequence)
        try rig.restartFollower()
        try rig.catchUp()
        #expect(rig.asked.last?.hasPrefix("g2.") == true)
    }

    @Test func withoutAPersonsWishNothingIsTaken() throws {
        let rig = try FollowRig(follows: [])
        try rig.push([IngestRig.steps(1)])
        #expect(try rig.step() > .seconds(0))
        #expect(try FollowRig.alive(rig.here) == [] && rig.asked == [])
        guard case .failed(let why, _) = rig.notices.last else {
            Issue.record("no notice")
            return
        }
        #expect(why.contains("followUrl"))
    }

    @Test func aRefusedTokenIsToldAndTriedAgain() throws {
        let rig = try filled()
        rig.token = "another"
        var pauses: [Duration] = []
        for _ in 0..<8 { pauses.append(try rig.step()) }
        #expect(pauses.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(pauses.last == .seconds(60))
        guard case .failed(let why, _) = rig.notices.last else {
            Issue.record("no notice")
            return
        }
        #expect(why.contains("token new"))
        rig.token = "good"
        try rig.catchUp()
        #expect(try rig.isSame())
    }

    @Test func theTimelineIsTheOtherStacks() throws {
        let rig = try filled()
        let timeline = try ZoneTimeline([
            .init(from: .distantPast, zone: "America/New_York"),
            .init(from: Instant(seconds: 1_743_000_000), zone: "Europe/Lisbon"),
        ])
        rig.zones = timeline.wireValue
        try rig.catchUp()
        let plan = try #require(try ZoneTables.plan(of: "anna", in: rig.here.store.database))
        #expect(try plan.timeline() == timeline)
    }
}
