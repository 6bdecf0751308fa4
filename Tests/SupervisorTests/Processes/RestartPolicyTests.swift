import Processes
import Testing

/// A generator that always returns the same word: all zeros give the lowest value of a range, all ones the highest.
struct ConstantGenerator: RandomNumberGenerator, Sendable {
    var word: UInt64
    mutating func next() -> UInt64 { word }
}

@Suite struct RestartPolicyTests {
    @Test(arguments: [(1, 100), (2, 200), (3, 400), (5, 1600), (6, 3000), (7, 3000), (1_000_000_000, 3000)])
    func ceilingDoublesUpToTheLongest(failures: Int, milliseconds: Int) {
        let policy = RestartPolicy(base: .milliseconds(100), longest: .seconds(3))
        #expect(policy.ceiling(failures: failures) == .milliseconds(milliseconds))
    }

    @Test func jitterSpansZeroToTheCeiling() {
        let policy = RestartPolicy(base: .seconds(1), longest: .seconds(60))
        var least = ConstantGenerator(word: 0)
        #expect(policy.delay(failures: 4, using: &least) == .zero)
        var most = ConstantGenerator(word: .max)
        #expect(policy.delay(failures: 4, using: &most) / .seconds(1) > 7.999)
        var generator = SystemRandomNumberGenerator()
        let delays = (0..<2000).map { _ in policy.delay(failures: 4, using: &generator) / .seconds(8) }
        #expect(delays.allSatisfy { (0...1).contains($0) })
        // Full jitter, not equal jitter: the lower half is used as much as the upper.
        #expect(delays.filter { $0 < 0.5 }.count > 800)
        #expect(delays.filter { $0 >= 0.5 }.count > 800)
    }
}
