import Configuration
import HealthModel
import Inspection
import Logging
import MessageBus
import Protocol

/// Which messages, or changelog rows, a tap shows. Pure.
package struct TapFilter: Sendable {
    /// Topics with one of these prefixes; none means all.
    package var prefixes: [String]
    /// Only messages about this type, given by its identifier: those that name it, and those to and from its handler.
    package var type: String?
    /// The instance of the handler that computes figures from the type.
    package var handler: String?
    /// Only messages that name this user.
    package var user: String?
    /// Only messages from this instance.
    package var from: String?
    /// Without prefixes: everything except heartbeats, which every process repeats and few people want to read.
    package var hidesHeartbeats = false

    package init(
        prefixes: [String] = [], type: String? = nil, handler: String? = nil, user: String? = nil, from: String? = nil
    ) {
        (self.prefixes, self.type, self.handler, self.user, self.from) = (prefixes, type, handler, user, from)
    }

    package func wants(_ message: Message) -> Bool {
        isWanted(message.topic)
            && from.map { message.header.from == $0 } ?? true
            && type.map { isAbout($0, message) } ?? true
            && user.map { names($0, message.body) } ?? true
    }

    /// Whether it wants messages that only come once data moves on.
    var wantsPath: Bool {
        prefixes.isEmpty
            || prefixes.contains { prefix in
                ["observed.", "sync.", "figures.", "events.", "daily."].contains {
                    prefix.hasPrefix($0) || $0.hasPrefix(prefix)
                }
            }
    }

    private func isWanted(_ topic: String) -> Bool {
        guard prefixes.isEmpty else { return prefixes.contains { topic.hasPrefix($0) } }
        return !(hidesHeartbeats && topic.hasPrefix(Heartbeat.topic("")))
    }

    private func isAbout(_ type: String, _ message: Message) -> Bool {
        let (topic, body) = (message.topic, message.body)
        let named = body.read(Mentions.self)
        if topic == "observed.\(type)" || topic == "samples.\(type)" || named?.type == type { return true }
        if let handler, ["sync", "figures", "events"].contains(where: { topic == "\($0).\(handler)" }) { return true }
        if named?.samples?.types?.contains(type) == true { return true }
        if case .only(let types)? = named?.types?.read(TypeChoice.self), types.contains(type) { return true }
        return named?.types?.read([Mentions].self)?.contains { $0.type == type } == true
    }

    private func names(_ user: String, _ body: Value) -> Bool {
        guard let named = body.read(Mentions.self) else { return false }
        return named.user == user || named.users?.contains(user) == true
            || named.rows?.contains { $0.user == user } == true || named.zones?[user] != nil
            // The changes that a hint doesn't list may be the user's.
            || named.changed?.contains { $0.user == user } == true || named.changed != nil && named.more != nil
    }
}

/// The members that messages of any kind use to name types and users.
private struct Mentions: Codable {
    struct Row: Codable { @IfReadable var user: String? }
    struct Samples: Codable { @IfReadable var types: [String]? }

    @IfReadable var type: String?
    /// A choice of types, or rows that each name a type.
    @IfReadable var types: Value?
    @IfReadable var samples: Samples?
    @IfReadable var user: String?
    @IfReadable var users: [String]?
    @IfReadable var rows: [Row]?
    @IfReadable var zones: [String: Value]?
    @IfReadable var changed: [Row]?
    @IfReadable var more: Int?
}

extension StackConfiguration {
    /// - Parameter type: a HealthKit identifier.
    package func tapFilter(prefixes: [String], type: String?, user: String?, from: String?) -> TapFilter {
        TapFilter(
            prefixes: prefixes, type: type, handler: type.flatMap { self.handler(of: $0) }?.name, user: user, from: from
        )
    }

    /// The topics of this stack's messages, sorted; one that ends with a full stop is the prefix of several topics.
    package var topics: [String] { Set(topics(isReplay: false).map(\.text)).sorted() }

    private func topics(isReplay: Bool) -> [Subscription] {
        let rights = BusRights(self)
        var said = instances.flatMap { rights.grant(.instance($0.name), name: $0.name)?.publishes ?? [] }
        // There is no grant for the hub from which its topics could be read, and the other messages are sent by tools.
        for name in names + ["supervisor"] { said += [.exact(Heartbeat.topic(name)), .exact("control.\(name)")] }
        said.append(.exact(BusConnection.hello))
        guard isReplay else { return said }
        return said.filter { Self.kept.contains($0.text.prefix { $0 != "." }) } + [.prefix("samples.")]
    }

    /// A usage error for each prefix that no topic of this stack begins with: such a prefix would never show anything,
    /// so a mistyped word would look like a quiet stack.
    /// - Parameter isReplay: whether the tap shows changes from changelogs instead of messages.
    package func unknown(prefixes: [String], isReplay: Bool) -> [Failure] {
        let said = topics(isReplay: isReplay)
        let unknown = prefixes.filter { prefix in
            !said.contains { topic in
                if topic.text.hasPrefix(prefix) { return true }
                if case .exact = topic { return false }
                return prefix.hasPrefix(topic.text)
            }
        }
        let topics = Set(said.map(\.text)).sorted()
        let kinds = Set(topics.map { $0.prefix { $0 != "." } + "." }).sorted().joined(separator: " ")
        return unknown.map { prefix in
            let ending = topics.filter { $0.hasSuffix("." + prefix) && !$0.hasPrefix("control.") }
            let hint =
                ending.isEmpty
                ? Nearest.hint(for: prefix, among: topics, else: "they begin with \(kinds)")
                : "did you mean one of \(ending.map { "'\($0)'" }.joined(separator: ", "))?"
            return .usage("no topic of this stack begins with '\(prefix)'", hint: hint)
        }
    }

    private var names: [String] { instances.map(\.name) }

    /// The topics, other than samples, that changelogs contain.
    private static let kept: [Substring] = ["alert", "daily", "events", "figures"]
}
