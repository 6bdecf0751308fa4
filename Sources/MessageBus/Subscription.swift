/// The topics that a process subscribes to.
package enum Subscription: Sendable, Hashable {
    case exact(String)
    case prefix(String)
    /// Topics that have this prefix and end the way a tool's name does (`BusName`).
    case tools(String)

    /// The whole topic, or the prefix that is subscribed to.
    package var text: String {
        switch self {
        case .exact(let topic), .prefix(let topic), .tools(let topic): topic
        }
    }

    package func matches(_ topic: String) -> Bool {
        switch self {
        case .exact(let wanted): topic == wanted
        case .prefix(let wanted): topic.hasPrefix(wanted)
        case .tools(let wanted):
            topic.hasPrefix(wanted) && BusName.areNumbers(topic.utf8.dropFirst(wanted.utf8.count))
        }
    }
}
