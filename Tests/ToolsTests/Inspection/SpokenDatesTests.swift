import HealthModel
import Inspection
import Logging
import Testing

@Suite struct SpokenDatesTests {
    /// A Sunday, which is the last day of a week.
    private static let today = LocalDay(year: 2025, month: 3, day: 30)

    @Test(arguments: [
        ("2025-03-30", "2025-03-30", "2025-03-30"), ("2025-02", "2025-02-01", "2025-02-28"),
        ("2024", "2024-01-01", "2024-12-31"),
        ("today", "2025-03-30", "2025-03-30"), ("Yesterday", "2025-03-29", "2025-03-29"),
        ("this-week", "2025-03-24", "2025-03-30"),
        ("last-week", "2025-03-17", "2025-03-23"), ("this-month", "2025-03-01", "2025-03-31"),
        ("last-month", "2025-02-01", "2025-02-28"), ("last-year", "2024-01-01", "2024-12-31"),
        ("7d", "2025-03-24", "2025-03-30"),
        ("1d", "2025-03-30", "2025-03-30"), ("4w", "2025-03-03", "2025-03-30"), ("1y", "2024-03-31", "2025-03-30"),
        ("10000d", "1997-11-13", "2025-03-30"),
    ])
    func says(_ text: String, _ first: String, _ last: String) throws {
        let days = try #require(SpokenDates(text, today: Self.today))
        #expect(days.first.description == first && days.last.description == last)
    }

    @Test func aYearBeforeALeapDayBeginsInMarch() {
        let days = SpokenDates("1y", today: LocalDay(year: 2028, month: 2, day: 29))
        #expect(days?.first == LocalDay(year: 2027, month: 3, day: 1))
        let leap = SpokenDates("4y", today: LocalDay(year: 2028, month: 2, day: 29))
        #expect(leap?.first == LocalDay(year: 2024, month: 3, day: 1))
    }

    @Test func januaryAndMondayHaveALastOne() throws {
        let newYear = LocalDay(year: 2025, month: 1, day: 1)
        #expect(SpokenDates("last-month", today: newYear)?.first == LocalDay(year: 2024, month: 12, day: 1))
        let monday = LocalDay(year: 2025, month: 3, day: 31)
        #expect(SpokenDates("last-week", today: monday)?.last == Self.today)
        #expect(SpokenDates("this-week", today: monday)?.first == monday)
    }

    @Test(arguments: [
        "", "soon", "2025-13", "2025-02-30", "25", "0d", "7x", "d", "-7d", "2025-3", "99999999999999999999d", "٧d",
        "3m",
    ])
    func refuses(_ text: String) { #expect(SpokenDates(text, today: Self.today) == nil) }

    @Test func ranges() throws {
        func range(_ from: String?, _ to: String?, _ last: String? = nil) throws -> DateRange {
            try DateRange(from: from, to: to, last: last) { Self.today }
        }
        for (last, hint) in [("5", "did you mean --last 5d?"), ("5x", "give one as \(SpokenDates.forms)")] {
            let failure = #expect(throws: Failure.self) { try range(nil, nil, last) }
            #expect(failure?.hint == hint)
        }
        #expect(try range("2025-02", "last-month") == range(nil, nil, "2025-02"))
        #expect(try range(nil, nil).isEverything)
        #expect(
            try range("yesterday", nil).contains(Self.today)
                && !range("yesterday", nil).contains(Self.today.adding(days: -2)))
        #expect(try range(nil, nil).words.isEmpty && range(nil, nil, "2025-03-01").words == "on 2025-03-01 ")
        #expect(try range(nil, nil, "2025-02").words == "from 2025-02-01 to 2025-02-28 ")
        #expect(try range("2025-02", nil).words == "from 2025-02-01 ")
        #expect(throws: Failure.self) { try range("today", "yesterday") }
        #expect(throws: Failure.self) { try range("today", nil, "7d") }
        #expect(throws: Failure.self) { try range("tomorrow-ish", nil) }
        // Only dates relative to today need the current date.
        struct Asked: Error {}
        #expect(throws: Never.self) { try DateRange(from: "2025-02", to: "2025-03-01") { throw Asked() } }
        #expect(throws: Asked.self) { try DateRange(from: "7d", to: nil) { throw Asked() } }
    }

    @Test func sinceTakesThemToo() throws {
        let now = try #require(InstantText.parse("2025-03-30T10:00:00Z"))
        #expect(
            try Since("yesterday", option: "--since", now: now).instant == InstantText.parse("2025-03-29T00:00:00Z"))
        #expect(try Since("3d", option: "--since", now: now).instant == InstantText.parse("2025-03-27T10:00:00Z"))
    }
}
