import HealthModel

/// Where a person's data ends. An export often has data for only part of its last day, and no more is expected for that
/// day, so it isn't a whole day either. Pure.
package struct DataEnd {
    /// The end of the newest sample.
    package let newest: Instant
    package let zones: ZoneTimeline

    package init(_ newest: Instant, _ zones: ZoneTimeline) { (self.newest, self.zones) = (newest, zones) }

    /// A day with data up to its last hour counts as a whole one.
    private static let tolerance = Duration.seconds(3600)

    /// What an answer says about the day in which the data ends; nil if that day isn't among these days, if the data
    /// covers it, or if it isn't over, which the answer says anyway.
    package func note(among states: [DayState]) -> String? {
        guard let day = states.first(where: { $0.isOver && $0.date == zones.day(of: newest) }),
            let end = zones.ranges(of: day.date).last?.upperBound, newest + Self.tolerance < end
        else { return nil }
        let clock = zones.localText(of: newest).dropFirst(11).prefix(5)
        return "The data ends on \(day.date) at \(clock): that isn't a whole day. Don't compare it with whole days."
    }
}

/// Times in answers, on the person's clock. Pure.
package enum LocalTimes {
    /// The same tree, in which moments in UTC, such as `2025-03-30T06:15:00Z`, are replaced by the time that the local
    /// clock showed, with the offset.
    package static func convert(_ value: Value, _ zones: ZoneTimeline) -> Value {
        switch value {
        case .string(let text):
            guard isMoment(text), let instant = InstantText.parse(text) else { return value }
            return .string(zones.localText(of: instant))
        case .array(let elements): return .array(elements.map { convert($0, zones) })
        case .object(let members):
            // Whatever came with a sample is left unchanged.
            return .object(
                Dictionary(
                    members.map { ($0, ["metadata", "payload"].contains($0) ? $1 : convert($1, zones)) },
                    uniquingKeysWith: { first, _ in first }))
        default: return value
        }
    }

    private static func isMoment(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return (20...27).contains(bytes.count) && bytes[10] == UInt8(ascii: "T") && bytes.last == UInt8(ascii: "Z")
            && bytes[4] == UInt8(ascii: "-")
    }
}
