/// A topic as named in a manifest: either a single topic ("daily.summary") or all topics with a prefix ("figures.*").
package struct TopicPattern: Sendable, Hashable, Comparable {
    package let text: String

    package init(_ text: String) { self.text = text }

    private var isPrefix: Bool { text.hasSuffix("*") }
    private var fixed: Substring { isPrefix ? text.dropLast() : text[...] }

    package func matches(_ topic: String) -> Bool { isPrefix ? topic.hasPrefix(fixed) : topic == text }

    /// The topics that match both patterns; nil if there are none.
    package func overlap(_ other: TopicPattern) -> TopicPattern? {
        if isPrefix, other.fixed.hasPrefix(fixed) { return other }
        if other.isPrefix, fixed.hasPrefix(other.fixed) { return self }
        return text == other.text ? self : nil
    }

    package static func < (a: TopicPattern, b: TopicPattern) -> Bool { a.text < b.text }
}
