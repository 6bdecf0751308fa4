import Configuration

/// Instances by what they do.
package struct StackRoles: Sendable {
    package var observer: String
    package var handlers: [String]
    package var consolidator: String?
    package var uploaders: [String]
    /// The producers, besides the observer, whose changelogs the uploaders deliver.
    package var documents: [String]
    /// The stack's own backends that something may be delivered to.
    package var backends: [String]

    package init(
        observer: String, handlers: [String], consolidator: String?, uploaders: [String], documents: [String],
        backends: [String] = []
    ) {
        (self.observer, self.handlers, self.consolidator) = (observer, handlers, consolidator)
        (self.uploaders, self.documents, self.backends) = (uploaders, documents, backends)
    }
}

extension StackRoles {
    /// Which instance does what in a stack.
    package init(of stack: StackConfiguration) {
        let producers = stack.handlers.filter { $0.manifest.produces.contains { $0.hasPrefix("events.") } }.map(\.name)
        let consolidator = stack.only(.consolidator)?.name
        self.init(
            observer: stack.only(.observer)?.name ?? "observer", handlers: stack.handlers.map(\.name),
            consolidator: consolidator,
            uploaders: stack.instances.filter { $0.manifest.kind == .uploader }.map(\.name),
            documents: producers + [consolidator].compactMap { $0 },
            backends: stack.instances.filter {
                $0.manifest.kind == .backend && UnfedBackend($0, in: stack) == nil
            }.map(\.name))
    }
}

extension Stack {
    /// The topic on which an instance's changes are announced.
    package func topic(of instance: String) -> String {
        switch configuration.instance(instance)?.manifest.kind {
        case .observer: return "observed.*"
        case .consolidator: return "daily.summary"
        default: return "events.\(instance)"
        }
    }
}
