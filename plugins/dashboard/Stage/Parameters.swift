import HTTP
import HealthModel
import Inspection

/// The parameters of a request's query.
package struct Parameters {
    private let query: [String: String]
    /// The page that lists them.
    private let page: String

    package init(_ request: HTTPRequest, page: String = "docs/dashboard.md") {
        query = request.query.filter { !$0.value.isEmpty }
        self.page = page
    }

    subscript(_ name: String) -> String? { query[name] }

    func day(_ name: String) throws(DashboardProblem) -> LocalDay? {
        guard let text = query[name] else { return nil }
        guard let day = LocalDay(text) else { throw problem(name, "isn't a date such as 2025-03-30") }
        return day
    }

    func required(_ name: String) throws(DashboardProblem) -> String {
        guard let text = query[name] else { throw problem(name, "is missing") }
        return text
    }

    package func number(_ name: String, _ allowed: ClosedRange<Int>) throws(DashboardProblem) -> Int? {
        guard let text = query[name] else { return nil }
        guard let number = Int(text), allowed.contains(number) else {
            throw problem(name, "must be a number from \(allowed.lowerBound) to \(allowed.upperBound)")
        }
        return number
    }

    /// The range from `from` to `to`; nil if neither is given.
    /// - Parameter days: the maximum number of days.
    func range(atMost days: Int = .max) throws(DashboardProblem) -> DateRange? {
        let range = DateRange(from: try day("from"), to: try day("to"))
        guard !range.isEverything else { return nil }
        if let from = range.from, let to = range.to {
            guard from <= to else { throw problem("from", "is after 'to'") }
            guard to.number - from.number < days else {
                throw problem("from", "is more than \(days) days before 'to'")
            }
        } else if days != .max {
            throw problem(range.from == nil ? "from" : "to", "is missing: give both, at most \(days) days apart")
        }
        return range
    }

    private func problem(_ name: String, _ what: String) -> DashboardProblem {
        .parameter(name, what, page: page)
    }
}
