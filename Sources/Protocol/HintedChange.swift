import HealthModel

/// A row that a hint announces: whose day it is, and which figures changed, but not their values. Pure.
package struct HintedChange: Codable, Sendable, Equatable {
    package var user: String
    /// In days since 1970.
    @IfReadable package var day: Int?
    /// The figures that were added, removed or given another value; of an event, its kind. Sorted.
    package var names: [String]
    /// How many further figures changed.
    @IfReadable package var more: Int?
    /// Of a summary: whether it is final, and the instances that it waits for.
    @IfReadable package var final: Bool?
    @IfReadable package var missing: [String]?

    /// Hints are small, however many figures a handler has and whatever it calls them.
    private static let mostNames = 24
    private static let longestName = 64
    /// What a summary holds besides figures.
    private static let aside: Set<String> = ["user", "date", "zone", "final", "revision", "missing"]

    /// - Parameters:
    ///   - topic: the row's.
    ///   - old: its content so far; nil for a new row.
    ///   - new: its content now; nil for a tombstone.
    package init(topic: String, user: String, day: Int?, from old: Value?, to new: Value?) {
        let (before, now) = (Self.content(of: old, topic), Self.content(of: new, topic))
        let changed = Set(before.keys).union(now.keys).filter { before[$0] != now[$0] }.sorted()
        let shown = changed.filter { $0.utf8.count <= Self.longestName }.prefix(Self.mostNames)
        (self.user, self.day) = (user, day)
        names = Array(shown)
        more = shown.count < changed.count ? changed.count - shown.count : nil
        guard topic == "daily.summary", let state = new?.read(SummaryState.self) else { return }
        final = state.final
        missing = state.missing.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// What a row says, by the names that people know.
    private static func content(of body: Value?, _ topic: String) -> [String: [Value]] {
        guard let body else { return [:] }
        if topic.hasPrefix("events.") { return [body["kind"].string ?? "": [body]] }
        let parts = topic.hasPrefix("figures.") ? [body["figures"], body["hourly"]] : [body]
        return parts.enumerated().reduce(into: [:]) { content, part in
            for (name, value) in part.element.object ?? [:] where !aside.contains(name) || parts.count > 1 {
                content[name, default: []] += [.integer(Int64(part.offset)), value]
            }
        }
    }
}
