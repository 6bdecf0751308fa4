import HealthModel
import Testing

@Suite struct BackOffTests {
    @Test func aWaitDoublesUpToTheLongest() {
        var retry = BackOff(Duration.milliseconds(250), upTo: .seconds(3))
        #expect((0..<6).map { _ in retry.next() / .milliseconds(1) } == [250, 500, 1000, 2000, 3000, 3000])
        #expect(retry.failures == 6)
        retry.failures = 0
        #expect(retry.wait == .milliseconds(250))
    }

    @Test(arguments: [(-1, 0.25), (0, 0.25), (1, 0.5), (5, 8.0), (6, 15.0), (62, 15.0), (Int.max, 15.0)])
    func secondsAreDoubledExactly(failures: Int, seconds: Double) {
        #expect(BackOff(0.25, upTo: 15, failures: failures).wait == seconds)
    }

    @Test func theFirstWaitIsNoLongerThanTheLongest() {
        #expect(BackOff(Duration.seconds(20), upTo: .seconds(15)).wait == .seconds(15))
        #expect(BackOff(Duration.zero, upTo: .seconds(15), failures: .max).wait == .zero)
    }

    private struct Constant: RandomNumberGenerator {
        let word: UInt64
        mutating func next() -> UInt64 { word }
    }

    @Test func jitterIsAShareBelowOne() {
        var (least, middle, most) = (Constant(word: 0), Constant(word: 1 << 63), Constant(word: .max))
        #expect(BackOff<Double>.jitter(using: &least) == 0)
        #expect(BackOff<Double>.jitter(using: &middle) == 0.5)
        let share = BackOff<Double>.jitter(using: &most)
        #expect(share < 1 && share > 0.999_999)
    }
}
