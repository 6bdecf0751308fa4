import Configuration
import HealthModel
import Protocol

/// Which messages, or changelog rows, a tap is asked for. Pure.
package struct TapFilter: Sendable {
    /// Topics that begin with one of these; none is all.
    package var prefixes: [String]
    /// Only what is about this type, by its identifier: what names it, and what its handler is told and says.
    package var type: String?
    /// The handler whose figures the type is in.
    package var handler: String?
    /// Only what names this user.
    package var user: String?
    /// Only what this instance sends.
    package var from: String?

    package init(
        prefixes: [String] = [], type: String? = nil, handler: String? = nil, user: String? = nil, from: String? = nil
    ) {
        self.prefixes = prefixes
        self.type = type
        self.handler = handler
        self.user = user
        self.from = from
    }

    package func wants(_ message: Message) -> Bool {
        (prefixes.isEmpty || prefixes.contains { message.topic.hasPrefix($0) })
            && from.map { message.header.from == $0 } ?? true
            && type.map { isAbout($0, message) } ?? true
            && user.map { names($0, message.body) } ?? true
    }

    private func isAbout(_ type: String, _ message: Message) -> Bool {
        let (topic, body) = (message.topic, message.body)
        if topic == "observed.\(type)" || topic == "samples.\(type)" || body["type"].string == type { return true }
        if let handler, ["sync", "figures", "events"].contains(where: { topic == "\($0).\(handler)" }) { return true }
        if contains(body["samples"]["types"], type) || contains(body["types"]["include"], type) { return true }
        return (body["types"].array ?? []).contains { $0["type"].string == type }
    }

    private func contains(_ list: Value, _ text: String) -> Bool {
        (list.array ?? []).contains { $0.string == text }
    }

    private func names(_ user: String, _ body: Value) -> Bool {
        body["user"].string == user || contains(body["users"], user)
            || (body["rows"].array ?? []).contains { $0["user"].string == user } || !body["zones"][user].isNull
    }
}

extension StackConfiguration {
    /// - Parameter type: an identifier of HealthKit's.
    package func tapFilter(prefixes: [String], type: String?, user: String?, from: String?) -> TapFilter {
        TapFilter(
            prefixes: prefixes, type: type, handler: type.flatMap { handler(of: $0)?.name }, user: user, from: from)
    }
}
