import HealthModel
import MessageBus
import Testing

/// How often a process says how it is. Times are seconds of a clock that only the tests move.
@Suite struct PresenceTests {
    private let second = Instant.second

    @Test func itIsOnTheBusOnceItHasHeardItself() {
        var presence = Presence(at: 0)
        #expect(!presence.isOnBus(at: 0))
        #expect(presence.pace(at: 0) == .unheard)
        presence.said(at: 0)
        #expect(!presence.isOnBus(at: second))
        let isNew = presence.heardSelf(at: second)
        #expect(isNew)
        #expect(presence.isOnBus(at: second))
        presence.said(at: 2 * second)
        let isNewAgain = presence.heardSelf(at: 2 * second)
        #expect(!isNewAgain)
    }

    @Test func itIsLivelyForTenSecondsAfterEachMoveAndQuietAfterThem() {
        var presence = Presence(at: 0)
        presence.said(at: 0)
        _ = presence.heardSelf(at: 0)
        #expect(presence.pace(at: 9 * second) == .lively)
        #expect(presence.pace(at: 10 * second) == .quiet)
        presence.moved(at: 100 * second)
        #expect(presence.pace(at: 109 * second) == .lively)
        #expect(presence.pace(at: 110 * second) == .quiet)
        #expect(presence.pace(at: 110 * second, isBusy: true) == .lively)
    }

    /// The hub has gone: that is noticed within seconds of the first heartbeat that doesn't come back, however long nothing was said before it.
    @Test func aHeartbeatThatDoesNotComeBackIsFollowedSoonThenInQuickSuccession() {
        var presence = Presence(at: 0)
        presence.said(at: 0)
        _ = presence.heardSelf(at: 0)
        presence.said(at: 1000 * second)
        #expect(presence.isOnBus(at: 1004 * second))
        #expect(presence.pace(at: 1000 * second) == .lively)
        for moment in 1001...1004 { presence.said(at: Instant(moment) * second) }
        #expect(!presence.isOnBus(at: 1005 * second))
        #expect(presence.pace(at: 1005 * second) == .unheard)
        let isBack = presence.heardSelf(at: 1020 * second)
        #expect(isBack)
        #expect(presence.isOnBus(at: 1020 * second) && presence.pace(at: 1020 * second) == .lively)
    }

    /// Whoever waits for a heartbeat waits longer than two of them take.
    @Test func patienceOutlastsTwoHeartbeats() {
        #expect(Repetition.silence > 2 * Repetition.quiet)
    }

    @Test func allProcessesMeetAtTheSameMoments() {
        let quiet = Repetition(at: -100 * second)
        let times = [5_000_001, 6_200_000, 9_999_999].map { quiet.next(after: $0, at: $0) }
        #expect(times == [10 * second, 10 * second, 10 * second])
        #expect(quiet.next(after: 10 * second, at: 10 * second) == 15 * second)
        let lively = Repetition(at: 5 * second)
        #expect(lively.next(after: 6_200_000, at: 6_200_000) == 7 * second)
    }
}
