import Foundation
import JSON

/// A page in Prometheus' text format, version 0.0.4.
package struct MetricsPage: Sendable {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The lines of each family, keyed by its name.
    private var lines: [String: [String]] = [:]

    package init() {}

    /// - Parameter labels: the values, in the order of the family's labels.
    package mutating func add(_ family: MetricFamily, _ labels: [String], _ value: Double) {
        add(family, suffix: "", zip(family.labels, labels).map { ($0, $1) }, value)
    }

    package mutating func add(_ family: MetricFamily, _ labels: [String], _ value: Int64) {
        add(family, labels, Double(value))
    }

    package mutating func add(_ family: MetricFamily, _ labels: [String], _ value: Bool) {
        add(family, labels, value ? 1.0 : 0.0)
    }

    /// - Parameters:
    ///   - counts: a separate count for each bucket, one more than there are bounds; the last is for anything above all
    ///     bounds.
    package mutating func add(
        _ family: MetricFamily, _ labels: [String], bounds: [Double], counts: [Int64], sum: Double
    ) {
        let labels = zip(family.labels, labels).map { ($0, $1) }
        var total: Int64 = 0
        for (index, count) in counts.enumerated() {
            total += count
            let bound = index < bounds.count ? Self.text(bounds[index]) : "+Inf"
            add(family, suffix: "_bucket", labels + [("le", bound)], Double(total))
        }
        add(family, suffix: "_sum", labels, sum)
        add(family, suffix: "_count", labels, Double(total))
    }

    private mutating func add(
        _ family: MetricFamily, suffix: String, _ labels: [(String, String)], _ value: Double
    ) {
        let pairs = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        let set = pairs.isEmpty ? "" : "{\(pairs)}"
        lines[family.name, default: []].append("\(family.name)\(suffix)\(set) \(Self.text(value))\n")
    }

    /// Families without a sample are left out.
    package var text: String {
        var text = ""
        for family in MetricFamily.all {
            guard let lines = lines[family.name] else { continue }
            text += "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.kind.rawValue)\n"
            text += lines.joined()
        }
        return text
    }

    private static func text(_ value: Double) -> String {
        value.isNaN ? "NaN" : value == .infinity ? "+Inf" : value == -.infinity ? "-Inf" : JSONNumber.text(value)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}

/// The release of healthbus that these programs belong to.
package enum ProgramRelease {
    package static let current = "0.1.0"
}
