/// A wait that is doubled with each failure, up to the longest: pure, in `Duration` or in seconds.
package struct BackOff<Wait: Comparable & AdditiveArithmetic & Sendable>: Sendable {
    package let first: Wait
    package let longest: Wait
    /// Consecutive failures so far; 0 begins again with the first wait.
    package var failures: Int

    package init(_ first: Wait, upTo longest: Wait, failures: Int = 0) {
        (self.first, self.longest, self.failures) = (first, longest, failures)
    }

    package var wait: Wait {
        var wait = first
        for _ in 0..<min(max(0, failures), 62) where wait < longest { wait += wait }
        return min(wait, longest)
    }

    /// The wait after one more failure.
    package mutating func next() -> Wait {
        defer { failures += 1 }
        return wait
    }

    /// Full jitter: the share of a wait, uniform from 0 to below 1, so that those that failed together don't try again
    /// together (Brooker, "Exponential Backoff And Jitter", AWS, 2015). One draw, whatever the wait is.
    package static func jitter(using generator: inout some RandomNumberGenerator) -> Double {
        Double(generator.next() >> 11) / 9_007_199_254_740_992
    }
}
