import HealthModel

/// How long samples take to reach the backend after they could first be delivered (`LifeSample.saved`). A sample that
/// never arrives counts as later than any other.
package struct DelayFigures: Equatable, Sendable {
    /// A time within which samples should arrive.
    package struct Limit: Sendable {
        package let name: String
        package let seconds: Double
    }

    package static let limits = [
        Limit(name: "15m", seconds: 900), Limit(name: "1h", seconds: 3600), Limit(name: "4h", seconds: 4 * 3600),
        Limit(name: "24h", seconds: 24 * 3600),
    ]

    package var samples = 0
    /// The share of all samples within each of `limits`, rounded down to four decimals so that 1 means all of them;
    /// empty if there are no samples.
    package var within: [Double] = []
    /// The median in whole seconds; nil if the sample in the middle never arrives, or if there are no samples.
    package var median: Double?
    package var p95: Double?
    package var max: Double?

    package init() {}

    /// Delays that are still to be counted.
    package struct Collector: Equatable {
        private(set) var delays: [Double] = []
        private(set) var never = 0

        package init() {}

        /// - Parameter delay: nil for a sample that never arrives.
        package mutating func add(_ delay: Double?) {
            if let delay { delays.append(delay) } else { never += 1 }
        }

        package var figures: DelayFigures {
            var figures = DelayFigures()
            figures.samples = delays.count + never
            guard figures.samples > 0 else { return figures }
            let sorted = delays.sorted()
            func quantile(_ share: Double) -> Double? {
                let place = Int(Double(figures.samples - 1) * share)
                return place < sorted.count ? sorted[place].rounded() : nil
            }
            figures.median = quantile(0.5)
            figures.p95 = quantile(0.95)
            figures.max = quantile(1)
            figures.within = DelayFigures.limits.map { limit in
                let arrived = sorted.firstPlace(behind: { $0 <= limit.seconds })
                return Double(arrived * 10_000 / figures.samples) / 10_000
            }
            return figures
        }
    }

    /// A share of `within` for people: never 100 % while anything is still missing.
    package static func percent(_ share: Double) -> String {
        share >= 0.995 && share < 1 ? "99 %" : "\(Int((share * 100).rounded())) %"
    }

    package var wireValue: Value {
        var value: [String: Value] = [
            "samples": .integer(Int64(samples)),
            "delaySeconds": ["median": Value(median), "p95": Value(p95), "max": Value(max)],
        ]
        value["deliveredWithin"] = .object(
            Dictionary(zip(Self.limits.map(\.name), within.map { .number($0) })) { first, _ in first })
        return .object(value)
    }
}
