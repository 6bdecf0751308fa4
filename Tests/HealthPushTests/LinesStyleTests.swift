import Foundation
import HealthModel
import HealthPush
import TestSupport
import Testing

/// The same lines as phones of all languages print them.
struct LinesStyleTests {
    /// Number formats of phones: the sign before thousands, and the decimal sign.
    private static let styles: [(group: String, decimal: String)] = [
        (",", "."), (".", ","), ("\u{A0}", ","), ("\u{202F}", ","), (" ", ","), ("’", "."), ("\u{66C}", "\u{66B}"),
        ("", "."), ("", ","),
    ]
    private static let digits = ["0123456789", "٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "०१२३४५६७८९"]

    private static func printed(
        _ value: Double, _ style: (group: String, decimal: String), _ digits: String
    ) -> String {
        let parts = String(format: "%.2f", value).split(separator: ".")
        var whole = ""
        for (index, digit) in parts[0].reversed().enumerated() {
            if index > 0, index.isMultiple(of: 3) { whole = style.group + whole }
            whole = String(digit) + whole
        }
        let own = Array(digits)
        return (whole + style.decimal + parts[1]).map { character in
            character.wholeNumberValue.map { String(own[$0]) } ?? String(character)
        }.joined()
    }

    @Test(arguments: 0..<40) func theSameSamplesReadTheSameInEveryStyle(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let samples = (0..<20).map { number in
            let start = Instant(seconds: 1_743_300_000 + Int64(number) * 60)
            let cents = Int.random(in: 0...5_000_000, using: &random)
            return (start: InstantText.iso8601(start), value: Double(cents) / 100)
        }
        let name = ["Steps", "step_count", "HKQuantityTypeIdentifierStepCount"].randomElement(using: &random) ?? ""
        for style in Self.styles {
            for digits in Self.digits {
                let lines = samples.map { "\(name);\($0.start);;\(Self.printed($0.value, style, digits));count;Watch" }
                let changes = try LinesTests.changes(lines.joined(separator: "\n"))
                #expect(changes.rows.compactMap(\.value) == samples.map(\.value), "\(style) \(changes.reasons)")
                #expect(changes.rows.map(\.start) == samples.map(\.start))
            }
        }
    }

    /// As Foundation prints them. A whole number above 999 may be open, so one has decimals.
    @Test func everyLocaleIsReadBack() throws {
        let values = [0.25, 7, 1234.5, 1234, 98765.25, 1_234_567]
        var wrong: Set<String> = []
        // Geʽez has numerals for ten, a hundred and ten thousand instead of places.
        for identifier in Locale.availableIdentifiers.sorted() where !identifier.hasPrefix("gez") {
            let format = NumberFormatter()
            format.locale = Locale(identifier: identifier)
            format.numberStyle = .decimal
            let lines = values.compactMap { format.string(from: NSNumber(value: $0)) }
                .map { "HKQuantityTypeIdentifierHologram;2025-03-30T08:00:00+02:00;;\($0)" }
            let read = try LinesTests.changes(lines.joined(separator: "\n")).rows.compactMap(\.value)
            if read != values { wrong.insert(identifier) }
        }
        #expect(wrong.isEmpty, "\(wrong.sorted())")
    }
}
