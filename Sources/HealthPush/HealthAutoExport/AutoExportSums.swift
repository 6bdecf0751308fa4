import HealthModel
import JSON

/// Totals of a workout's series: `[{date, qty, units, source}]`, `[{date, Min, Avg, Max, units}]`.
struct AutoExportSums {
    private(set) var sum = 0.0
    private(set) var least: Double?
    private(set) var most: Double?
    /// The unit printed by the last of them, empty if it has none; `isSum` is false when they differ.
    private(set) var unit: String?
    private var means = 0.0
    private var count = 0.0
    private var isMixed = false

    /// A series may be grouped by the hour, and a group has the time at which it begins.
    private static let longestGroup = Duration.seconds(3600)

    /// Nil for anything that isn't an array or contains no numbers.
    /// - Parameter span: readings outside it are left out; nil for all of them. Those without a time are within it.
    init?(_ array: JSONSpan?, during span: ClosedRange<Instant>? = nil) throws(JSONScanError) {
        guard let array, array.kind == .array else { return nil }
        var scanner = JSONScanner(array.bytes)
        var item = AutoExportItem()
        var source: String?
        try scanner.beginArray()
        while try scanner.nextElement() {
            guard try item.read(scanner.value()) else { continue }
            let quantity = item.take("qty")?.decimal
            if let span, let time = item.look("date")?.date?.instant,
                time > span.upperBound || time <= span.lowerBound - Self.longestGroup
            {
                continue
            }
            guard let mean = item.take("Avg", "avg", "hr")?.decimal ?? quantity, mean.isFinite else { continue }
            let units = item.take("units", "unit")?.text ?? ""
            let from = item.take("source")?.text ?? ""
            if count > 0, units != unit || from != source { isMixed = true }
            (unit, source) = (units, from)
            sum += quantity ?? mean
            means += mean
            count += 1
            let low = item.take("Min", "min")?.decimal ?? mean
            let high = item.take("Max", "max")?.decimal ?? mean
            least = min(least ?? low, low)
            most = max(most ?? high, high)
        }
        if count == 0 { return nil }
    }

    /// Whether the values can be added up: if there are several sources, the same steps would be counted twice.
    var isSum: Bool { !isMixed }
    var mean: Double { means / count }
}
