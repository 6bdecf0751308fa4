import HealthModel
import MessageBus
import TestSupport
import Testing

/// How often a process reports its state. Times are seconds on a clock that only the tests move.
@Suite struct PresenceTests {
    @Test func itIsOnTheBusOnceItHasHeardItself() {
        var presence = Presence(at: 0)
        #expect(!presence.isOnBus(at: 0))
        #expect(presence.pace(at: 0) == .unheard)
        presence.said(at: 0)
        #expect(!presence.isOnBus(at: .seconds(1)))
        let isNew = presence.heardSelf(at: .seconds(1))
        #expect(isNew)
        #expect(presence.isOnBus(at: .seconds(1)))
        presence.said(at: .seconds(2))
        let isNewAgain = presence.heardSelf(at: .seconds(2))
        #expect(!isNewAgain)
    }

    @Test(arguments: [0, 300, 500, 999] as [Int64])
    func afterEachMoveItSpeaksAtGrowingIntervalsAndThenRarely(_ milliseconds: Int64) {
        var presence = Presence(at: 0)
        presence.said(at: 0)
        _ = presence.heardSelf(at: 0)
        let move = MonotonicTime.seconds(96) + .milliseconds(milliseconds)
        presence.moved(at: move)
        var spoken = move
        var times: [MonotonicTime] = []
        for _ in 0..<6 {
            presence.said(at: spoken)
            _ = presence.heardSelf(at: spoken)
            spoken = presence.pace(at: spoken).next(after: spoken)
            times.append(spoken)
        }
        // A message that is lost is repeated within a second; another soon after.
        #expect(times[0] - move <= .seconds(1) && times[1] - move <= .seconds(2))
        #expect(times.count { $0 - move < .seconds(12) } <= 5)
        #expect(times[5] - times[4] == Repetition.quiet)
        #expect(presence.pace(at: .seconds(108) + .milliseconds(milliseconds), isBusy: true) == .lively)
    }

    /// A process that is never idle reports ten times a second: each heartbeat covers all changes since the last one.
    @Test func whatHasMovedIsReportedSoonAndTogether() {
        var presence = Presence(at: 0)
        presence.said(at: 0)
        _ = presence.heardSelf(at: 0)
        for moment in [20, 21, 22] { presence.moved(at: .seconds(moment)) }
        #expect(presence.pace(at: .seconds(22)) == .moving)
        #expect(BusConnection.Pace.moving.next(after: .seconds(22)) == .seconds(22) + .milliseconds(100))
        presence.said(at: .seconds(22))
        _ = presence.heardSelf(at: .seconds(22))
        #expect(presence.pace(at: .seconds(22)) == .lively)
        // A process that isn't on the bus has nobody to report to.
        presence.said(at: .seconds(30))
        presence.moved(at: .seconds(36))
        #expect(presence.pace(at: .seconds(36)) == .unheard)
    }

    /// If the hub is gone, this is noticed within seconds of the first heartbeat that doesn't come back, no matter how
    /// long the bus was silent before.
    @Test func aHeartbeatThatDoesNotComeBackIsFollowedSoonThenInQuickSuccession() {
        var presence = Presence(at: 0)
        presence.said(at: 0)
        _ = presence.heardSelf(at: 0)
        presence.said(at: .seconds(1000))
        #expect(presence.isOnBus(at: .seconds(1004)))
        #expect(presence.pace(at: .seconds(1000)) == .lively)
        for moment in 1001...1004 { presence.said(at: .seconds(moment)) }
        #expect(!presence.isOnBus(at: .seconds(1005)))
        #expect(presence.pace(at: .seconds(1005)) == .unheard)
        let isBack = presence.heardSelf(at: .seconds(1020))
        #expect(isBack)
        #expect(presence.isOnBus(at: .seconds(1020)) && presence.pace(at: .seconds(1020)) == .lively)
    }

    /// A process waiting for a heartbeat waits longer than two intervals.
    @Test func patienceOutlastsTwoHeartbeats() {
        #expect(Repetition.silence > Repetition.quiet * 2)
    }

    @Test func allProcessesMeetAtTheSameMoments() {
        let quiet = Repetition(at: .seconds(-100))
        let times = ([12_000_001, 15_200_000, 23_999_999] as [MonotonicTime]).map { quiet.next(after: $0, at: $0) }
        #expect(times == [.seconds(24), .seconds(24), .seconds(24)])
        #expect(quiet.next(after: .seconds(24), at: .seconds(24)) == .seconds(36))
        let lively = Repetition(at: 6_000_000)
        #expect(lively.next(after: 6_200_000, at: 6_200_000) == .seconds(7))
    }
}
