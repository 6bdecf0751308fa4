import Foundation
import HealthModel
import TestSupport
import Testing

@Suite struct InstantTextTests {
    @Test(
        arguments: [
            ("2025-03-30 08:15:00 +0200", 1_743_315_300_000_000),
            ("2025-03-30T06:15:00Z", 1_743_315_300_000_000),
            ("2025-03-30T06:15:00.25Z", 1_743_315_300_250_000),
            ("2025-03-30T06:15:00,1234567Z", 1_743_315_300_123_456),
            ("2025-03-30T08:15:00+02:00", 1_743_315_300_000_000),
            ("2025-03-30T08:15:00+02", 1_743_315_300_000_000),
            ("20150718161649+0200", 1_437_229_009_000_000),
            ("1969-12-31 23:59:59 +0000", -1_000_000),
            ("1969-12-31T23:59:59.5Z", -500_000),
            ("2024-02-29 12:00:00 -0330", 1_709_220_600_000_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000_000),
        ] as [(String, Int64)])
    func reads(text: String, instant: Int64) { #expect(InstantText.parse(text)?.microseconds == instant) }

    @Test(arguments: [
        "", "2025", "2025-03-30", "2025-03-30 08:15:00", "2025-03-30T08:15Z", "2025-02-29 00:00:00 +0000",
        "2025-13-01 00:00:00 +0000", "2025-00-01 00:00:00 +0000", "2025-01-32 00:00:00 +0000",
        "2025-01-01 24:00:00 +0000",
        "2025-01-01 00:60:00 +0000", "2025-01-01 00:00:61 +0000", "2025-01-01 00:00:00 +1960",
        "2025-01-01 00:00:00 +02000",
        "2025-01-01 00:00:00.Z", "2025-01-01 00:00:00 +0200 ", "2025-01-01 8:15:00 +0200", "٢٠٢٥-03-30 08:15:00 +0200",
        "2025-03-30 8:15:00\u{202F}PM +0200", "20150718161649", "201507181616+0200", "2025-01-01 -1:00:00 +0000",
    ])
    func refuses(text: String) { #expect(InstantText.parse(text) == nil) }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1_743_315_300_250_000, "2025-03-30T06:15:00.25Z"),
            (-500_000, "1969-12-31T23:59:59.5Z"), (1, "1970-01-01T00:00:00.000001Z"),
            (100_000, "1970-01-01T00:00:00.1Z"),
            (-62_135_596_800_000_000, "0001-01-01T00:00:00Z"),
        ] as [(Int64, String)])
    func writes(instant: Int64, text: String) { #expect(InstantText.iso8601(Instant(microseconds: instant)) == text) }

    @Test func whatIsWrittenReadsBackTheSame() {
        var random = SeededRandom(seed: 1)
        for _ in 0..<2000 {
            let instant = Instant(
                microseconds: .random(in: -4_000_000_000_000_000...4_000_000_000_000_000, using: &random))
            #expect(InstantText.parse(InstantText.iso8601(instant)) == instant)
        }
    }

    /// A second opinion: Foundation's ISO 8601.
    @Test func agreesWithFoundation() throws {
        var random = SeededRandom(seed: 2)
        for _ in 0..<200 {
            let second = Int64.random(in: -2_000_000_000...4_000_000_000, using: &random)
            let text = Date(timeIntervalSince1970: Double(second)).formatted(.iso8601)
            #expect(InstantText.parse(text) == Instant(seconds: second))
            #expect(InstantText.iso8601(Instant(seconds: second)) == text)
        }
    }

    /// Times shown to people are in local wall-clock time.
    @Test func localTimesAreThoseOfTheZone() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let now = try #require(InstantText.parse("2025-07-01T10:15:00.654321Z"))
        #expect(InstantText.local(now, now: now, zone: zone) == "12:15:00")
        let late = try #require(InstantText.parse("2025-07-01T22:05:09.9Z"))
        #expect(InstantText.local(late, now: now, zone: zone) == "2025-07-02 00:05:09")
        #expect(InstantText.local(late, now: now, zone: .gmt) == "22:05:09")
    }
}
