import Foundation
import HealthModel
import HealthPush
import Testing

/// Dates as phones print them in all of ICU's locales, with a 12-hour clock.
struct AutoExportLocaleTests {
    private static let hours = [0, 1, 9, 11, 12, 13, 15, 23]
    private static let minutes = [5, 0, 59, 30, 0, 5, 5, 59]
    /// Its word for the morning is Finnish's for the afternoon.
    private static let contradicting: Set = ["smn", "smn_FI"]

    private static func instants() -> [Instant] {
        zip(hours, minutes).map { Instant(seconds: 1_794_240_000 + Int64($0 * 3600 + $1 * 60) - 8 * 3600) }
    }

    private static func printed(_ identifier: String, calendar: Calendar.Identifier?, _ pattern: String) -> [String] {
        let format = DateFormatter()
        format.locale = Locale(identifier: identifier)
        if let calendar { format.calendar = Calendar(identifier: calendar) }
        format.timeZone = TimeZone(identifier: "Asia/Shanghai")
        format.dateFormat = pattern
        return instants().map { format.string(from: Date(timeIntervalSince1970: Double($0.microseconds) / 1e6)) }
    }

    private static func read(_ dates: [String]) throws -> PushedChanges {
        try pushed(
            metric: "body_temperature", "degC",
            dates.map { #"{"qty":36.5,"date":"\#($0)"}"# }.joined(separator: ","), aggregation: "none")
    }

    @Test(arguments: ["yyyy-MM-dd h:mm:ss a Z", "yyyy-MM-dd a h:mm:ss Z", "yyyy-MM-dd aK:mm:ss Z"])
    func everyLocaleIsReadBack(pattern: String) throws {
        let expected = Self.instants().map { InstantText.iso8601($0) }
        let locales = Locale.availableIdentifiers.sorted()
        #expect(locales.count > 900)
        var wrong: Set<String> = []
        for locale in locales {
            let changes = try Self.read(Self.printed(locale, calendar: .gregorian, pattern))
            if changes.rows.map(\.start) != expected { wrong.insert(locale) }
        }
        #expect(wrong == Self.contradicting)
    }

    @Test func everyLocaleWithA24HourClockIsReadBack() throws {
        let expected = Self.instants().map { InstantText.iso8601($0) }
        for locale in Locale.availableIdentifiers.sorted() {
            let changes = try Self.read(Self.printed(locale, calendar: .gregorian, "yyyy-MM-dd HH:mm:ss Z"))
            #expect(changes.rows.map(\.start) == expected, "\(locale)")
        }
    }

    /// A year of the Buddhist calendar is only counted from elsewhere; other calendars have other months and days.
    @Test(arguments: [
        ("fa_IR", Calendar.Identifier.persian, "Persian"), ("ar_SA", .islamicUmmAlQura, "Islamic"),
        ("ar", .islamicCivil, "Islamic"), ("ja_JP", .japanese, "Japanese"), ("zh_TW", .republicOfChina, "Minguo"),
        ("he", .hebrew, "Hebrew"), ("ar_EG", .coptic, "Coptic"), ("th_TH", .buddhist, ""),
    ])
    func anotherCalendarIsNamedOrConverted(locale: String, calendar: Calendar.Identifier, name: String) throws {
        let changes = try Self.read(Self.printed(locale, calendar: calendar, "yyyy-MM-dd h:mm:ss a Z"))
        guard !name.isEmpty else {
            #expect(changes.rows.map(\.start) == Self.instants().map { InstantText.iso8601($0) })
            return
        }
        #expect(changes.rows.isEmpty && changes.reasons.count == Self.hours.count)
        #expect(changes.reasons.allSatisfy { $0.hasPrefix("the date is of the \(name) calendar: set the phone's") })
    }

    @Test func theDayBeforeMarchInABuddhistLeapYearIsRead() throws {
        #expect(try Self.read(["2567-02-29 10:00:00 +0700"]).rows.map(\.start) == ["2024-02-29T03:00:00Z"])
        #expect(try Self.read(["2568-02-29 10:00:00 +0700"]).rows.isEmpty)
    }

    @Test(arguments: [
        ("2026-11-10 3:05:00 下午 +0800", "2026-11-10T07:05:00Z"), ("2026-11-10 下午3:05:00 +0800", "2026-11-10T07:05:00Z"),
        ("2026-11-10 오전 12:05:00 +0900", "2026-11-09T15:05:00Z"),
        ("2026-11-10 3:05:00 Μ.Μ. +0200", "2026-11-10T13:05:00Z"),
        ("\u{200F}٢٠٢٦-١١-١٠ ٣:٠٥:٠٠ م \u{200E}+0300", "2026-11-10T12:05:00Z"),
        ("۲۰۲۶-۱۱-۱۰ ۳:۰۵:۰۰ ب.ظ. \u{2212}0330", "2026-11-10T18:35:00Z"),
        ("2026-11-10 午後0:05:00 +0900", "2026-11-10T03:05:00Z"),
        ("2026-11-10 3:05:00\u{202F}หลังเที่ยง +0700", "2026-11-10T08:05:00Z"),
        ("२०२६-११-१० १५:०५:०० +०५३०", "2026-11-10T09:35:00Z"),
    ])
    func itsWordAndDigitsMayStandAnywhere(text: String, instant: String) throws {
        let changes = try Self.read([text])
        #expect(changes.rows.map(\.start) == [instant] && changes.quarantined.isEmpty)
    }

    @Test func anUnknownWordIsNeitherHalfOfTheDay() throws {
        let changes = try Self.read(["2026-11-10 3:05:00 zzz +0100", "2026-11-10 3:05:00 下午下午 +0800"])
        #expect(changes.rows.isEmpty)
        #expect(changes.reasons.allSatisfy { $0.contains("24-Hour Time") })
    }
}
