import Foundation
import Synchronization

/// Numbers and times in human-readable form, in English, the same on every machine. Only relative times can be in the
/// person's language; programs always get ISO 8601 instead.
package enum HumanFormat {
    private static let isPlain = Atomic(false)
    private static let wanted = Mutex(british)

    /// From now on counts have no separators, for output that programs read. Called once, when a program starts.
    package static func usePlainDigits() { isPlain.store(true, ordering: .relaxed) }

    /// "1 day", "2 days"; "1 summary", "2 summaries" if the plural is given.
    package static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(count(number)) \(number == 1 ? one : many ?? one + "s")"
    }

    /// "1 234 567" with narrow no-break spaces, unless plain digits are wanted.
    package static func count(_ number: Int) -> String {
        if isPlain.load(ordering: .relaxed) { return String(number) }
        let digits = Array(String(number.magnitude))
        var out = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { out.append("\u{202F}") }
            out.append(digit)
        }
        return out
    }

    /// "512 B", "1.5 kB", "2.3 GB": powers of 1000.
    package static func bytes(_ number: Int) -> String {
        if number.magnitude < 1000 { return "\(number) B" }
        var amount = Double(number)
        var unit = 0
        let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
        // 999.95 would otherwise be printed as 1000.0.
        while amount.magnitude >= 999.95, unit < units.count - 1 {
            amount /= 1000
            unit += 1
        }
        return amount.formatted(.number.precision(.fractionLength(1)).grouping(.never).locale(english)) + " "
            + units[unit]
    }

    /// "0 s", "850 ms", "4.2 s", "2 min 5 s", "3 h 4 min", "2 d 3 h": two units at most.
    package static func duration(_ duration: Duration) -> String {
        if duration < .zero { return "-" + Self.duration(.zero - duration) }
        if duration == .zero { return "0 s" }
        let seconds = duration / .seconds(1)
        if seconds < 0.9995 {
            return seconds < 0.001 ? "less than 1 ms" : "\(Int((seconds * 1000).rounded())) ms"
        }
        if seconds < 9.95 {
            return seconds.formatted(.number.precision(.fractionLength(0...1)).locale(english)) + " s"
        }
        let whole = Int(seconds.rounded())
        switch whole {
        case ..<60: return "\(whole) s"
        case ..<3600: return joined(whole / 60, "min", whole % 60, "s")
        case ..<86_400: return joined(whole / 3600, "h", whole % 3600 / 60, "min")
        default: return joined(whole / 86_400, "d", whole % 86_400 / 3600, "h")
        }
    }

    /// "7:05".
    package static func hours(minutes: Double) -> String {
        let whole = Int(minutes.rounded())
        return "\(whole / 60):" + (whole % 60 < 10 ? "0" : "") + "\(whole % 60)"
    }

    private static func joined(_ first: Int, _ firstUnit: String, _ second: Int, _ secondUnit: String) -> String {
        "\(first) \(firstUnit)" + (second > 0 ? " \(second) \(secondUnit)" : "")
    }

    /// On a screen, the same as `relative` below; in a pipe, "2025-03-30T08:15:00Z", because nobody will know when it
    /// was written.
    package static func relative(_ date: Date?, now: Date, for terminal: Terminal) -> String {
        guard let date, !terminal.isTerminal else { return relative(date, now: now) }
        return date.formatted(.iso8601)
    }

    /// "5 min ago", "in 2 hr", or "vor 5 Min." once `useLanguage` was called; "never" for nil.
    package static func relative(_ date: Date?, now: Date) -> String {
        guard let date else { return "never" }
        if abs(date.timeIntervalSince(now)) < 1 { return "now" }
        return relative(date, now: now, locale: wanted.withLock { $0 })
    }

    package static func relative(_ date: Date, now: Date, locale: Locale) -> String {
        let style = Date.AnchoredRelativeFormatStyle(
            anchor: date, presentation: .numeric, unitsStyle: .abbreviated, locale: locale)
        return style.format(now)
    }

    /// From now on relative times are in the person's language. Called once, when a program starts.
    package static func useLanguage(of environment: [String: String]) {
        let locale = locale(of: environment)
        wanted.withLock { $0 = locale }
    }

    /// The locale named by the first of `LC_ALL`, `LC_TIME` and `LANG` that is set. The built-in one is used for
    /// English, for C, and for a language that doesn't exist.
    package static func locale(of environment: [String: String]) -> Locale {
        let name = ["LC_ALL", "LC_TIME", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let locale = Locale(identifier: String(name.prefix { $0 != "." && $0 != "@" }))
        guard let language = locale.language.languageCode, language.isISOLanguage, language != .english else {
            return british
        }
        return locale
    }

    /// The British locale abbreviates without full stops.
    private static let british = Locale(identifier: "en_GB")
    private static let english = Locale(identifier: "en_US_POSIX")
}
