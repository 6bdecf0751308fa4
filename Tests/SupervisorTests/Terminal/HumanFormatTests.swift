import Foundation
import Terminal
import Testing

@Suite struct HumanFormatTests {
    @Test(arguments: [
        (0, "0"), (999, "999"), (1000, "1 000"), (-1_234_567, "-1 234 567"), (Int.min, "-9 223 372 036 854 775 808"),
    ])
    func counts(number: Int, text: String) {
        #expect(HumanFormat.count(number) == text.replacingOccurrences(of: " ", with: "\u{202F}"))
    }

    @Test func oneIsSingular() {
        #expect([0, 1, 2].map { HumanFormat.count($0, "day") } == ["0 days", "1 day", "2 days"])
    }

    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_550, "1.6 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"),
        (2_345_678_901, "2.3 GB"), (Int.max, "9.2 EB"),
    ])
    func bytes(number: Int, text: String) {
        #expect(HumanFormat.bytes(number) == text)
    }

    @Test(arguments: [
        (0, "0 s"), (1, "1 ms"), (850, "850 ms"), (1000, "1 s"), (4230, "4.2 s"), (9960, "10 s"), (59_400, "59 s"),
        (59_600, "1 min"), (125_000, "2 min 5 s"), (3_600_000, "1 h"), (11_040_000, "3 h 4 min"),
        (183_600_000, "2 d 3 h"), (-125_000, "-2 min 5 s"),
    ])
    func durations(milliseconds: Int, text: String) {
        #expect(HumanFormat.duration(.milliseconds(milliseconds)) == text)
    }

    @Test(arguments: [(425.0, "7:05"), (59.6, "1:00"), (0.4, "0:00"), (1500.0, "25:00")])
    func hoursAndMinutes(minutes: Double, text: String) {
        #expect(HumanFormat.hours(minutes: minutes) == text)
    }

    @Test func theTiniestDurationIsNotZero() {
        #expect(HumanFormat.duration(.nanoseconds(5)) == "less than 1 ms")
    }

    @Test func relativeTimes() {
        let now = Date(timeIntervalSince1970: 1_770_000_000)
        #expect(HumanFormat.relative(nil, now: now) == "never")
        #expect(HumanFormat.relative(now, now: now) == "now")
        #expect(HumanFormat.relative(now - 300, now: now) == "5 min ago")
        #expect(HumanFormat.relative(now - 7200, now: now) == "2 hr ago")
        #expect(HumanFormat.relative(now + 7200, now: now) == "in 2 hr")
    }

    /// A reader of a pipe can't know when the text was written.
    @Test func aPipeGetsMomentsInstead() {
        let now = Date(timeIntervalSince1970: 1_770_000_000)
        let (screen, pipe) = (Terminal(isTerminal: true), Terminal(isTerminal: false))
        #expect(HumanFormat.relative(now - 300, now: now, for: screen) == "5 min ago")
        #expect(HumanFormat.relative(now - 300, now: now, for: pipe) == "2026-02-02T02:35:00Z")
        #expect(HumanFormat.relative(now, now: now, for: pipe) == "2026-02-02T02:40:00Z")
        #expect(HumanFormat.relative(nil, now: now, for: pipe) == "never")
    }

    @Test(arguments: [
        (["LANG": "de_DE.UTF-8"], "vor 5 Min."), (["LC_TIME": "de_AT@euro", "LANG": "en_US.UTF-8"], "vor 5 Min."),
        (["LC_ALL": "C.UTF-8", "LANG": "de_DE.UTF-8"], "5 min ago"), (["LANG": "en_US.UTF-8"], "5 min ago"),
        (["LANG": "POSIX"], "5 min ago"), (["LANG": "xx_YY.UTF-8"], "5 min ago"), ([:], "5 min ago"),
    ])
    func relativeTimesAreInThePersonsLanguage(_ environment: [String: String], _ text: String) {
        let now = Date(timeIntervalSince1970: 1_770_000_000)
        let locale = HumanFormat.locale(of: environment)
        #expect(HumanFormat.relative(now - 300, now: now, locale: locale) == text)
    }
}
