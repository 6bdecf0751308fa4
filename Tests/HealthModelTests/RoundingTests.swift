import HealthModel
import Testing

@Suite struct RoundingTests {
    @Test(arguments: [
        (12.345, 2, 12.35), (12.344_999, 2, 12.34), (-0.05, 1, -0.1), (7.5, 0, 8.0), (0.000_000_5, 6, 0.000_001),
        (.leastNonzeroMagnitude, 400, .leastNonzeroMagnitude), (.infinity, 2, .infinity),
    ])
    func decimals(number: Double, decimals: Int, rounded: Double) {
        #expect(number.rounded(decimals: decimals) == rounded)
    }

    @Test(arguments: [
        (37.000_000_000_000_01, 37.0), (1234.5678, 1234.57), (1_234_567.8, 1_234_568.0),
        (0.001_234_567_8, 0.001_234_57),
        (0.0, 0.0), (.leastNonzeroMagnitude, .leastNonzeroMagnitude), (-72.456_789, -72.4568),
    ])
    func sixDigits(number: Double, rounded: Double) {
        #expect(number.rounded(digits: 6, decimals: 0...Int.max) == rounded)
    }

    @Test func decimalsLimitDigits() {
        #expect(1234.5678.rounded(digits: 4, decimals: 2...12) == 1234.57)
        #expect(0.000_123_456_789_012_3.rounded(digits: 20, decimals: 2...12) == 0.000_123_456_789)
    }
}
