import HTTP
import Testing

struct RateLimitTests {
    @Test func aBurstThenARate() {
        var limit = RateLimit<String>(perSecond: 2, burst: 4)
        for _ in 0..<4 { #expect(limit.take("a", at: 100) == nil) }
        #expect(limit.take("a", at: 100) == 0.5)
        // Other keys have their own limits.
        #expect(limit.take("b", at: 100) == nil)
        #expect(limit.take("a", at: 100.25) == 0.25)
        #expect(limit.take("a", at: 100.5) == nil)
        #expect(limit.take("a", at: 100.5) == 0.5)
        // A key never has more than one burst available, however long it has been idle.
        for _ in 0..<4 { #expect(limit.take("a", at: 10_000) == nil) }
        #expect(limit.take("a", at: 10_000) != nil)
    }

    @Test func severalTokensAtOnce() {
        var limit = RateLimit<Int>(perSecond: 1, burst: 10)
        #expect(limit.take(1, 7, at: 0) == nil)
        #expect(limit.take(1, 7, at: 0) == 4)
        #expect(limit.take(1, 3, at: 0) == nil)
        // A request for more than a bucket can hold is treated as a request for a full bucket.
        #expect(limit.wait(1, for: 1000, at: 0) == 10)
        #expect(limit.take(1, 1000, at: 10) == nil)
    }

    /// Compared with a simple bucket that keeps a count of its tokens.
    @Test func equalsABucket() {
        var limit = RateLimit<Int>(perSecond: 5, burst: 20)
        var tokens = 20.0
        var before = 0.0
        var state: UInt64 = 7
        func random(_ count: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % count
        }
        var now = 0.0
        for step in 0..<20_000 {
            now += Double(random(8)) / 16
            let wanted = Double(random(4) + 1)
            tokens = min(20, tokens + (now - before) * 5)
            before = now
            let isLetThrough = tokens + 1e-4 >= wanted
            // Cases that depend on rounding aren't checked.
            guard abs(tokens - wanted) > 1e-3 else {
                if limit.take(0, wanted, at: now) == nil { tokens -= wanted }
                continue
            }
            #expect((limit.take(0, wanted, at: now) == nil) == isLetThrough, "step \(step)")
            if isLetThrough { tokens -= wanted }
        }
    }

    @Test func onlySoManyAreRemembered() {
        var limit = RateLimit<Int>(perSecond: 0.001, burst: 3, keys: 100)
        for _ in 0..<3 { #expect(limit.take(-1, at: 0) == nil) }
        for key in 0..<100_000 {
            #expect(limit.take(key, at: 1) == nil)
            #expect(limit.count <= 100)
        }
        // The key that owes the most isn't forgotten in favour of keys that came only once.
        #expect(limit.take(-1, at: 2) != nil)
        // Keys whose bucket is full again are forgotten first.
        var quick = RateLimit<Int>(perSecond: 1, burst: 1, keys: 4)
        for key in 0..<4 { #expect(quick.take(key, at: 0) == nil) }
        #expect(quick.take(9, at: 5) == nil)
        #expect(quick.count == 1)
    }

    @Test func whoFailsTooOftenWaits() {
        var attempts = FailedAttempts<UInt64>(allowed: 3, forgivenAfter: 30)
        for _ in 0..<3 {
            #expect(attempts.wait(7, at: 0) == nil)
            attempts.failed(7, at: 0)
        }
        #expect(attempts.wait(7, at: 0) == 30)
        #expect(attempts.wait(8, at: 0) == nil)
        // Further failures don't make the wait longer.
        attempts.failed(7, at: 10)
        #expect(attempts.wait(7, at: 10) == 20)
        #expect(attempts.wait(7, at: 30) == nil)
        attempts.failed(7, at: 30)
        #expect(attempts.wait(7, at: 30) == 30)
    }

    @Test(arguments: [(0.01, "1"), (1, "1"), (1.2, "2"), (59.5, "60"), (1e12, "3600")])
    func theAnswerSaysHowLong(_ wait: Double, _ expected: String) {
        #expect(HTTPHeaders.retryAfter(wait)["Retry-After"] == expected)
    }
}
