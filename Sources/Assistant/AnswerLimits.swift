import HealthModel
import Inspection

/// The maximum size of an answer, which is limited because assistants read all of it and pay for it. Pure.
package struct AnswerLimits {
    /// The most rows.
    package var rows: Int
    /// The maximum number of bytes of JSON; at least one row is always kept.
    package var bytes: Int

    package init(rows: Int, bytes: Int = 60_000) { (self.rows, self.bytes) = (rows, bytes) }

    /// The first rows that fit, and how many don't.
    package func first(_ rows: [Value]) -> (shown: [Value], left: Int) {
        var shown: [Value] = []
        var size = 0
        for row in rows.prefix(self.rows) {
            size += row.json().utf8.count + 1
            if size > bytes, !shown.isEmpty { break }
            shown.append(row)
        }
        return (shown, rows.count - shown.count)
    }

    /// The last rows that fit, in their order.
    package func last(_ rows: [Value]) -> (shown: [Value], left: Int) {
        let (shown, left) = first(rows.reversed())
        return (shown.reversed(), left)
    }

    /// The tree with its lists cut to at most the given number of elements.
    /// - Parameter left: how many elements each list lost, by the list's path: `intervals`, `sessions.stretches`.
    package static func cut(_ value: Value, to count: Int, at path: String = "", left: inout [String: Value]) -> Value {
        switch value {
        case .object(let members):
            var cut: [String: Value] = [:]
            for (name, member) in members {
                cut[name] = Self.cut(member, to: count, at: path.isEmpty ? name : path + "." + name, left: &left)
            }
            return .object(cut)
        case .array(let elements):
            if elements.count > count {
                left[path] = .integer((left[path]?.int ?? 0) + Int64(elements.count - count))
            }
            return .array(elements.prefix(count).map { Self.cut($0, to: count, at: path, left: &left) })
        default: return value
        }
    }
}

/// The days in a span that have no data. Pure.
package enum MissingDays {
    /// - Parameter dates: the days with data, as days since 1970, in order.
    package static func gaps(in span: ClosedRange<Int>, except dates: [Int]) -> [ClosedRange<Int>] {
        var gaps: [ClosedRange<Int>] = []
        var next = span.lowerBound
        for date in dates where span.contains(date) && date >= next {
            if date > next { gaps.append(next...(date - 1)) }
            next = date + 1
        }
        if next <= span.upperBound { gaps.append(next...span.upperBound) }
        return gaps
    }

    /// `{days, spans: [{from, to, days}]}`, the newest fifty spans.
    package static func value(_ gaps: [ClosedRange<Int>]) -> Value {
        [
            "days": Value(gaps.reduce(0) { $0 + $1.count }),
            "spans": .array(gaps.suffix(50).map { DayRuns.value(of: $0) }),
        ]
    }
}
