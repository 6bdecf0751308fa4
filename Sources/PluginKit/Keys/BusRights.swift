import MessageBus

/// Who may say and hear what on a sealed bus: derived from the configuration, here and nowhere else.
///
/// Written down in docs/protocol.md ("Rights").
public struct BusRights: Sendable {
    private let stack: StackConfiguration
    private let observer: String
    private let handlers: [String]

    public init(_ stack: StackConfiguration) {
        self.stack = stack
        observer = stack.only(.observer)?.name ?? "observer"
        handlers = stack.handlers.map(\.name)
    }

    /// What the holder of a key may do; nil for an instance that the stack doesn't have.
    public func grant(_ role: KeyRole, name: String) -> TopicGrant? {
        switch role {
        case .tap: TopicGrant(publishes: [], hears: [.prefix("")], names: [.exact(name), Self.tools(of: name)])
        case .operator: people(name, beside: [])
        case .supervisor: people(name, beside: [.exact(Heartbeat.topic(name))])
        case .instance(let name): stack.instance(name).flatMap(instance)
        }
    }

    /// How tools name themselves, so that the answers to one never reach another person's.
    private static func tools(of name: String) -> Subscription { .prefix(toolPrefix(name)) }

    private static func toolPrefix(_ name: String) -> String { StackClient.prefix + name + "-" }

    private func people(_ name: String, beside more: [Subscription]) -> TopicGrant {
        TopicGrant(
            // Pages only to the observer: of a file that it can't open itself.
            publishes: [.prefix("control."), .prefix("pull."), .exact("page.\(observer)")] + more,
            hears: [.prefix("")],
            names: [.exact(name), Self.tools(of: name)])
    }

    private func instance(_ instance: StackConfiguration.Instance) -> TopicGrant? {
        let name = instance.name
        let beat = Subscription.exact(Heartbeat.topic(name))
        // Also as one that stands by for it, which is a tool until it has the place.
        let isNamed = [Subscription.exact(name), Self.tools(of: name)]
        var publishes = [beat, .exact(StandbyWord.prefix + name)]
        var hears = [
            beat, .exact(BusConnection.hello), .prefix("page." + Self.toolPrefix(name)),
            .exact(StandbyWord.prefix + name),
        ]
        func beats(_ names: [String]) -> [Subscription] { names.map { .exact(Heartbeat.topic($0)) } }
        switch instance.manifest.kind {
        case .hub: return nil
        case .backend: return TopicGrant(publishes: publishes, hears: hears, names: isNamed)
        case .observer:
            publishes += [.prefix("observed."), .prefix("pull.\(StackClient.prefix)")]
            hears += [.exact("control.\(name)"), .exact("acknowledged.\(name)")]
        case .debouncer:
            publishes += (handlers + names(.uploader)).map { .exact("sync.\($0)") }
            publishes += [.exact("acknowledged.\(observer)"), .exact("control.\(observer)")]
            hears.append(.prefix("observed."))
            hears += beats([observer] + names(.consolidator) + handlers + names(.uploader))
        case .handler:
            // Of whatever plugin is in its place: in containers that is told to its own alone.
            publishes += instance.substitutes.flatMap { name in
                ["figures", "events"].map { .exact("\($0).\(name)") }
            }
            hears.append(.exact("sync.\(name)"))
        case .consolidator:
            publishes.append(.exact("daily.summary"))
            hears += beats([observer] + handlers)
        case .uploader: hears += [.exact("sync.\(name)")] + beats([observer] + handlers + names(.consolidator))
        case .notifier: hears += beats(producers(for: instance))
        }
        // Every stage asks, is asked and answers, and takes commands.
        publishes += producers(for: instance).map { .exact("pull.\($0)") }
        publishes += consumers(of: instance).map { .exact("page.\($0)") } + [.prefix("page.\(StackClient.prefix)")]
        hears += [.exact("pull.\(name)"), .exact("page.\(name)"), .exact("control.\(name)")]
        if Alert.raisers.contains(instance.manifest.kind) { publishes.append(.prefix(Alert.topicPrefix)) }
        return TopicGrant(publishes: publishes, hears: hears, names: isNamed)
    }

    private func names(_ kind: Manifest.Kind) -> [String] {
        stack.instances.filter { $0.manifest.kind == kind }.map(\.name)
    }

    /// Whose changelogs an instance reads.
    private func producers(for instance: StackConfiguration.Instance) -> [String] {
        switch instance.manifest.kind {
        case .hub, .backend, .observer: []
        case .debouncer, .handler: [observer]
        case .consolidator: [observer] + handlers
        case .uploader: [observer] + handlers + names(.consolidator)
        case .notifier: stack.instances.filter { Alert.raisers.contains($0.manifest.kind) }.map(\.name)
        }
    }

    private func consumers(of instance: StackConfiguration.Instance) -> [String] {
        stack.instances.filter { producers(for: $0).contains(instance.name) }.map(\.name)
    }
}
