import Simulation
import Terminal

/// The delay by the hour in which a sample was saved, drawn in characters: one line per strategy, all to the same
/// scale.
struct DelayChart {
    let results: [StrategyResult]

    private static let steps = Array("▁▂▃▄▅▆▇█")

    var text: String {
        let delays = results.flatMap(\.byHour).compactMap(\.median)
        let most = max(60, delays.max() ?? 0)
        let width = results.map(\.strategy.rawValue.count).max() ?? 0
        func padded(_ name: String) -> String { name + String(repeating: " ", count: width - name.count) }
        let hours = stride(from: 0, to: 24, by: 6).map { hour in
            let name = "\(hour)"
            return name + String(repeating: " ", count: 12 - name.count)
        }.joined()
        var text = "Median delay by hour of the day (█ is \(HumanFormat.duration(.seconds(most))), × is never)\n"
        text += padded("") + "  " + hours.withoutTrailingSpaces + "\n"
        for result in results {
            // Two columns per hour.
            let bars = result.byHour.map { String(repeating: Self.bar($0, most), count: 2) }.joined()
            text += (padded(result.strategy.rawValue) + "  " + bars).withoutTrailingSpaces + "\n"
        }
        return text
    }

    /// A blank where there are no samples.
    private static func bar(_ figures: DelayFigures, _ most: Double) -> String {
        guard figures.samples > 0 else { return " " }
        guard let median = figures.median else { return "×" }
        return String(steps[min(steps.count - 1, Int(median / most * Double(steps.count)))])
    }
}
