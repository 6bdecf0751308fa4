import HealthModel
import MessageBus
import TestSupport
import Testing

/// How often a process that isn't let in tries again, and how often it logs this; the test supplies the time.
@Suite struct LinkTroubleTests {
    @Test func itTriesEachSecondAndSaysSoSeldom() {
        var trouble = LinkTrouble()
        var said: [MonotonicTime] = []
        var tries = 0
        for tick in 0..<1000 {
            let now = MonotonicTime(microseconds: Int64(tick) * 100_000)
            if let retry = trouble.retryAt, now >= retry {
                trouble.retried()
                tries += 1
            }
            if trouble.failed(.keyRefused, at: now) != nil { said.append(now) }
        }
        #expect((80...100).contains(tries))
        #expect(said == [2, 32, 62, 92].map { .seconds($0) })
    }

    /// If keys change or a hub restarts, nothing is logged.
    @Test func aShortTroubleIsNotWorthALine() {
        var trouble = LinkTrouble()
        #expect(trouble.reconnectInterval == 50)
        #expect(trouble.failed(.brokenOff, at: 0) == nil)
        #expect(trouble.reconnectInterval == 1000)
        #expect(trouble.failed(.brokenOff, at: 1_900_000) == nil)
        trouble.succeeded()
        #expect(trouble.reconnectInterval == 50 && trouble.retryAt == nil)
        #expect(trouble.failed(.brokenOff, at: 2_100_000) == nil)
        #expect(trouble.failed(.brokenOff, at: 4_100_000)?.contains("public key") == true)
    }

    /// A key is added to the list between the handshakes of the two sockets: unless the first socket tries again, it
    /// stays refused for good.
    @Test func oneSocketsSuccessIsNotTheOthers() {
        var trouble = LinkTrouble()
        #expect(trouble.failed(.keyRefused, at: 0) == nil)
        trouble.succeeded()
        #expect(trouble.retryAt == 0 + LinkTrouble.retryAfter)
        trouble.retried()
        trouble.succeeded()
        #expect(trouble.retryAt == nil)
    }
}

/// Refusals may come a thousand times a second; the log reports them once every ten seconds.
@Suite struct NoticeLimitTests {
    @Test func theUnloggedAreCounted() {
        var limit = NoticeLimit()
        let notice = BusNotice(.denied, who: "steps", why: "a")
        var reported: [Int] = []
        for tick in 0..<2500 {
            if let passed = limit.pass(notice, at: MonotonicTime(microseconds: Int64(tick) * 10_000)) {
                reported.append(passed.unlogged)
            }
        }
        #expect(reported == [0, 999, 999])
        #expect(limit.pass(BusNotice(.denied, who: "sleep", why: "a"), at: 25_000_000) != nil)
    }

    /// A stranger can use as many addresses as it likes.
    @Test func manyStrangersAreOneFlood() {
        var limit = NoticeLimit()
        let reported = (0..<10_000).count { limit.pass(BusNotice(.refused, who: "\($0)", why: "a"), at: 1) != nil }
        #expect(reported == NoticeLimit.limit)
        #expect(limit.pass(BusNotice(.refused, who: "later", why: "a"), at: 2 + NoticeLimit.interval) != nil)
    }
}
