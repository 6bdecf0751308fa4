import MessageBus
import Protocol

/// Who may send and receive what. This is derived from the configuration, here and nowhere else.
///
/// A sealed hub uses this to decide what to forward, and every process to decide whom to trust (`trust`). Documented in
/// docs/protocol.md ("Rights").
package struct BusRights: Sendable {
    let stack: StackConfiguration
    package let observer: String
    private let handlers: [String]

    package init(_ stack: StackConfiguration) {
        self.stack = stack
        observer = stack.only(.observer)?.name ?? "observer"
        handlers = stack.handlers.map(\.name)
    }

    /// What the holder of a key may do; nil for the hub, for an instance that the stack doesn't have, and for a person
    /// with the name of an existing instance.
    package func grant(_ role: KeyRole, name: String) -> TopicGrant? {
        if case .instance(let name) = role { return stack.instance(name).flatMap(instance) }
        guard stack.instance(name) == nil else { return nil }
        return switch role {
        case .tap: TopicGrant(publishes: [], hears: [.prefix("")], names: Self.names(of: name))
        case .supervisor: person(name, beside: [.exact(Heartbeat.topic(name))])
        case .operator, .instance: person(name)
        }
    }

    /// The process's own name and those of its tools, so that its answers never reach the tools of another process.
    private static func names(of name: String) -> [Subscription] {
        [.exact(name), .tools(BusName.toolPrefix(of: name))]
    }

    func person(_ name: String, beside more: [Subscription] = []) -> TopicGrant {
        TopicGrant(
            // Pages go only to the observer: the pages of a file that it can't open itself.
            publishes: [.prefix("control."), .exact("page.\(observer)")] + stages.map { .exact("pull.\($0.name)") }
                + more,
            hears: [.prefix("")],
            names: Self.names(of: name))
    }

    /// What a tool of an instance may send; such a tool stands by for the instance, or checks whether it is there.
    func tool(of instance: StackConfiguration.Instance) -> [Subscription] {
        switch instance.manifest.kind {
        case .ingest: return handingOver
        case .dashboard: return asking + syncing
        default: break
        }
        return producers(for: instance).map { .exact("pull.\($0)") }
    }

    /// The rights needed to hand a file over, which an ingest does through a tool of its own.
    private var handingOver: [Subscription] {
        [.exact("control.\(observer)"), .exact("page.\(observer)"), .exact("pull.\(observer)")]
    }

    /// The rights needed to send the queries that people's commands send, which change nothing.
    private var asking: [Subscription] {
        [.exact(BusConnection.hello)] + stages.map { .exact("pull.\($0.name)") }
    }

    /// The right to make the stack look for new data now; what the command may say is in `BusRights.trust`.
    private var syncing: [Subscription] { names(.debouncer).map { .exact("control.\($0)") } }

    private var stages: [StackConfiguration.Instance] {
        stack.instances.filter(\.manifest.kind.isStage)
    }

    private func instance(_ instance: StackConfiguration.Instance) -> TopicGrant? {
        let name = instance.name
        let beat = Subscription.exact(Heartbeat.topic(name))
        // This includes a process that stands by for the instance, since it counts as a tool until it has taken over.
        let isNamed = Self.names(of: name)
        var publishes = [beat, .exact(StandbyWord.prefix + name)]
        var hears = [
            beat, .exact(BusConnection.hello), .tools("page." + BusName.toolPrefix(of: name)),
            .exact(StandbyWord.prefix + name),
        ]
        func beats(_ names: [String]) -> [Subscription] { names.map { .exact(Heartbeat.topic($0)) } }
        switch instance.manifest.kind {
        case .hub: return nil
        case .backend: return TopicGrant(publishes: publishes, hears: hears, names: isNamed)
        case .ingest:
            publishes.append(.exact(IngestPart.topic(observer)))
            publishes += syncing + handingOver
            hears.append(.tools("pull." + BusName.toolPrefix(of: name)))
            hears += [.exact(IngestReceipt.topic(name))] + beats([observer] + names(.debouncer))
            return TopicGrant(publishes: publishes, hears: hears, names: isNamed)
        case .dashboard:
            // The topics that show how the stack is doing. Answers to other processes' requests aren't included.
            hears += ["heartbeat.", "observed.", "sync.", "figures.", "events.", "daily.", Alert.topicPrefix].map {
                .prefix($0)
            }
            return TopicGrant(publishes: publishes + asking + syncing, hears: hears, names: isNamed)
        case .observer:
            publishes += [.prefix("observed."), .prefix("pull." + BusName.toolPrefix(of: nil))]
            publishes += names(.ingest).map { .exact(IngestReceipt.topic($0)) }
            hears += [.exact("control.\(name)"), .exact("acknowledged.\(name)"), .exact(IngestPart.topic(name))]
            hears += beats(names(.debouncer))
        case .debouncer:
            publishes += (handlers + names(.uploader)).map { .exact("sync.\($0)") }
            publishes += [.exact("acknowledged.\(observer)"), .exact("control.\(observer)")]
            hears.append(.prefix("observed."))
            hears += beats([observer] + names(.consolidator) + handlers + names(.uploader))
        case .handler:
            publishes += ["figures", "events"].map { .exact("\($0).\(name)") }
            hears.append(.exact("sync.\(name)"))
        case .consolidator:
            publishes.append(.exact("daily.summary"))
            hears += beats([observer] + handlers)
        case .uploader: hears += [.exact("sync.\(name)")] + beats([observer] + handlers + names(.consolidator))
        case .notifier: hears += beats(producers(for: instance))
        }
        // Every stage sends queries, answers those of others, and accepts commands.
        publishes += producers(for: instance).map { .exact("pull.\($0)") }
        publishes +=
            consumers(of: instance).map { .exact("page.\($0)") } + [.prefix("page." + BusName.toolPrefix(of: nil))]
        hears += [.exact("pull.\(name)"), .exact("page.\(name)"), .exact("control.\(name)")]
        if Alert.raisers.contains(instance.manifest.kind) { publishes.append(.prefix(Alert.topicPrefix)) }
        return TopicGrant(publishes: publishes, hears: hears, names: isNamed)
    }

    private func names(_ kind: Manifest.Kind) -> [String] {
        stack.instances.filter { $0.manifest.kind == kind }.map(\.name)
    }

    /// The instances whose changelogs an instance reads.
    private func producers(for instance: StackConfiguration.Instance) -> [String] {
        switch instance.manifest.kind {
        case .hub, .backend, .observer, .ingest, .dashboard: []
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
