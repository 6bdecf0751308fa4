import Configuration

extension BackendAddress {
    /// For an uploader that has nowhere to deliver to.
    package static func missing(_ context: PluginContext) throws -> String {
        throw ConfigurationError(
            file: context.stack.file, key: "instances.\(context.name).configuration.url",
            reason: "is needed: this stack has no backend of its own")
    }
}
