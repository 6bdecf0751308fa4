import DeliveryKit
import HTTP
import HealthModel
import TestSupport
import Testing
import UploaderReading
import UploaderStage

struct RetryPolicyTests {
    /// Always gives the same bits: all zeros are the low end of a range, all ones its high end.
    struct Fixed: RandomNumberGenerator {
        var bits: UInt64
        mutating func next() -> UInt64 { bits }
    }

    enum Expected: String, Sendable { case done, retry, refreshToken, pause, split, isolate, deadLetter }

    private func kind(_ action: RetryPolicy.Action) -> Expected {
        switch action {
        case .done: .done
        case .retry: .retry
        case .refreshToken: .refreshToken
        case .pause: .pause
        case .split: .split
        case .isolate: .isolate
        case .deadLetter: .deadLetter
        }
    }

    @Test(
        arguments: [
            (200, 9, .done), (201, 9, .done), (204, 9, .done), (301, 9, .pause), (400, 9, .split),
            (400, 1, .deadLetter),
            (401, 9, .refreshToken), (403, 9, .pause), (404, 9, .pause), (405, 9, .pause), (408, 9, .retry),
            (409, 9, .retry),
            (413, 9, .split), (413, 1, .deadLetter), (422, 9, .split), (422, 1, .deadLetter), (425, 9, .retry),
            (429, 9, .retry),
            (500, 9, .retry), (502, 9, .retry), (503, 9, .retry), (504, 9, .retry),
        ] as [(Int, Int, Expected)])
    func table(_ status: Int, _ elements: Int, _ expected: Expected) {
        var policy = RetryPolicy()
        var generator = Fixed(bits: 1 << 63)
        let action = policy.action(after: .answered(status: status), elements: elements, now: 0, using: &generator)
        #expect(kind(action) == expected)
    }

    @Test(
        arguments: [
            (.connectionRefused, .retry), (.timedOut, .retry), (.nameResolution, .retry), (.tls, .retry),
            (.connection, .retry),
            (.answerTooLarge, .retry), (.invalidRequest, .pause),
        ] as [(HTTPError.Kind, Expected)])
    func transport(_ failure: HTTPError.Kind, _ expected: Expected) {
        var policy = RetryPolicy()
        var generator = Fixed(bits: 0)
        #expect(kind(policy.action(after: .failed(failure), elements: 5, now: 0, using: &generator)) == expected)
    }

    @Test func fullJitterDoublesUpToTheCap() {
        var policy = RetryPolicy()
        var high = Fixed(bits: .max)
        var bounds: [Double] = []
        for _ in 0..<14 {
            guard
                case .retry(let delay) = policy.action(after: .answered(status: 500), elements: 1, now: 0, using: &high)
            else { break }
            bounds.append(delay)
        }
        let expected: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900]
        #expect(bounds.count == expected.count)
        for (bound, limit) in zip(bounds, expected) { #expect(bound <= limit && bound > limit * 0.999) }

        var low = Fixed(bits: 0)
        #expect(policy.action(after: .failed(.timedOut), elements: 1, now: 0, using: &low) == .retry(after: 0))
        _ = policy.action(after: .answered(status: 200), elements: 1, now: 0, using: &low)
        #expect(policy.attempt == 0)
    }

    /// A server on this machine is back within seconds of its restart.
    @Test func aRefusedConnectionHasALimitOfItsOwn() {
        func longest(_ kind: HTTPError.Kind, cap: Double = 900, limit: Double = 15) -> Double {
            var policy = RetryPolicy(cap: cap, refusedConnectionCap: limit)
            var high = Fixed(bits: .max)
            var longest = 0.0
            for _ in 0..<14 {
                let action = policy.action(after: .failed(kind), elements: 1, now: 0, using: &high)
                if case .retry(let delay) = action { longest = max(longest, delay) }
            }
            return longest.rounded()
        }
        #expect(longest(.connectionRefused) == 15 && longest(.timedOut) == 900)
        #expect(longest(.connectionRefused, cap: 4) == 4 && longest(.connectionRefused, limit: .infinity) == 900)
    }

    @Test(arguments: [
        ("0", 0), ("120", 120), ("999999", 900), ("99999999999999999999999999", 900),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 900), ("Sun, 30 Mar 2025 08:16:00 GMT", 60),
        ("Sun, 30 Mar 2025 08:00:00 GMT", 0),
    ])
    func retryAfterIsHonoured(_ header: String, _ seconds: Double) {
        for status in [429, 503] {
            var policy = RetryPolicy()
            var generator = Fixed(bits: .max)
            let action = policy.action(
                after: .answered(status: status, retryAfter: header), elements: 5, now: 1_743_322_500_000_000,
                using: &generator)
            #expect(action == .retry(after: seconds) && policy.asked.map { min($0, 900) } == seconds)
            _ = policy.action(after: .unproven, elements: 5, now: 0, using: &generator)
            #expect(policy.asked == nil)
        }
    }

    @Test(arguments: ["", "-5", "soon", "Sun, 30 Feb", "30 Mar 2025 08:16:00 GMT"])
    func malformedRetryAfter(_ header: String) { #expect(RetryAfter.wait(header) == nil) }

    @Test func tokenIsRefreshedOnceThenItPauses() {
        var policy = RetryPolicy()
        var generator = Fixed(bits: 0)
        func after(_ status: Int) -> RetryPolicy.Action {
            policy.action(after: .answered(status: status), elements: 5, now: 0, using: &generator)
        }
        #expect(after(401) == .refreshToken)
        #expect(after(401) == .pause(.unauthorized(.file(nil))))
        #expect(after(200) == .done)
        #expect(after(401) == .refreshToken)
    }

    @Test func aConflictThatStaysIsARefusal() {
        var policy = RetryPolicy()
        var generator = Fixed(bits: 0)
        func after(_ status: Int, _ elements: Int = 4) -> Expected {
            kind(policy.action(after: .answered(status: status), elements: elements, now: 0, using: &generator))
        }
        for _ in 0..<3 { #expect(after(409) == .retry) }
        #expect(after(409) == .split)
        // Each half is tried the same number of times, since requests in progress may end in the meantime.
        for _ in 0..<3 { #expect(after(409, 1) == .retry) }
        #expect(after(409, 1) == .deadLetter)
        for _ in 0..<3 {
            #expect(after(409) == .retry)
            #expect(after(503) == .retry)
        }
    }

    @Test(
        arguments: [
            (.elsewhere("https://example.org"), "redirects to https://example.org, and the token isn't sent there"),
            (.sameOrigin("/v2"), "it redirects to /v2, which isn't followed"),
            (.unreadable, "doesn't seem to be a backend's"),
            (nil, "doesn't seem to be a backend's"), (.elsewhere("https://evil\u{1B}[2J.net"), "https://evil?[2J.net"),
        ] as [(HTTPRedirect?, String)])
    func aRedirectSaysWhereItLeads(_ redirect: HTTPRedirect?, _ words: String) {
        guard case .needsPerson(let pause) = RetryPolicy.Outcome.answered(status: 301, redirect: redirect) else {
            Issue.record("it goes on")
            return
        }
        #expect(pause.remedy.contains(words), "\(pause.remedy)")
    }

    /// A server that always fails on one element: everything else is delivered, and nothing is given up.
    @Test(arguments: [1, 2, 7, 100], [0.0, 0.5, 1.0])
    func anElementThatMakesAServerFailHoldsUpOnlyItself(_ count: Int, _ place: Double) {
        let poison = Int((Double(count - 1) * place).rounded())
        var batch = DeliveryBatch(count: count)
        var policy = RetryPolicy()
        var generator = Fixed(bits: .max)
        var delivered: Set<Int> = []
        var waits: [Double] = []
        for _ in 0..<60 {
            guard let part = batch.next else { break }
            guard part.contains(poison) else {
                delivered.formUnion(part)
                batch.settle()
                policy.succeeded()
                continue
            }
            switch policy.action(after: .failing, elements: part.count, now: 0, using: &generator) {
            case .retry(let seconds): waits.append(seconds)
            case .isolate(let seconds):
                waits.append(seconds)
                batch.isolate()
            default: Issue.record("nothing else helps")
            }
        }
        #expect(delivered == Set(0..<count).subtracting([poison]))
        #expect(batch.parts == [poison..<poison + 1])
        // Usually the cause is a server that is down for a while.
        #expect(waits.prefix(3).allSatisfy { $0 > 0.9 } && (waits.max() ?? 0) > 800)
    }

    @Test(arguments: [1, 2, 3, 7, 64, 1000], [0.0, 0.5, 1.0])
    func bisectionFindsThePoison(_ count: Int, _ place: Double) {
        let poison = Int((Double(count - 1) * place).rounded())
        var batch = DeliveryBatch(count: count)
        var policy = RetryPolicy()
        var generator = Fixed(bits: 0)
        var delivered: Set<Int> = []
        var dead: [Int] = []
        var requests = 0
        while let part = batch.next, requests < 10_000 {
            requests += 1
            let status = part.contains(poison) ? 422 : 200
            switch policy.action(after: .answered(status: status), elements: part.count, now: 0, using: &generator) {
            case .done:
                delivered.formUnion(part)
                batch.settle()
            case .split: batch.split()
            case .deadLetter:
                dead.append(contentsOf: part)
                batch.settle()
            case .retry, .refreshToken, .pause, .isolate: Issue.record("nothing here asks for that")
            }
        }
        #expect(dead == [poison])
        #expect(delivered == Set(0..<count).subtracting([poison]))
        var depth = 0
        while 1 << depth < count { depth += 1 }
        #expect(requests <= 2 * depth + 1)
    }
}
