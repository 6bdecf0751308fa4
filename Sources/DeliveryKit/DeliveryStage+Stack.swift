import Configuration
import HealthModel

extension DeliveryStage {
    /// Creates the stage for an instance in a stack.
    /// - Parameters:
    ///   - isOnThisMachine: whether the destination's address is this machine's own.
    ///   - contents: how the contents of elements are compared with those that the destination keeps.
    /// - Throws: `ConfigurationError` for names in 'types' that match nothing.
    package convenience init(
        stack: StackConfiguration, instance: StackConfiguration.Instance, address: String = "", form: String = "",
        needsPath: Bool, isOnThisMachine: Bool = false,
        contents: @escaping ContentOf = DeliveryGroup.contentNumbers,
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) throws(ConfigurationError) {
        let options = instance.configuration
        let destination = instance.manifest.destination ?? .init(.backend)
        self.init(
            observer: stack.only(.observer)?.name ?? "observer",
            handlers: stack.handlers.filter { $0.manifest.produces.contains { $0.hasPrefix("events.") } }.map(\.name),
            consolidator: stack.only(.consolidator)?.name,
            policy: RetryPolicy(
                base: options["retryBaseSeconds"].double ?? 1, cap: options["retryCapSeconds"].double ?? 900,
                refusedConnectionCap: isOnThisMachine ? Self.refusedConnectionCap : .infinity,
                askedCap: options["retryAfterCapSeconds"].double ?? 900),
            settings: DeliverySettings(
                address: address, compareEvery: .seconds(options["compareSeconds"].double ?? 3600),
                refusedInARow: options[DeliverySettings.trust].int.map { Int($0) } ?? 3,
                isTrustChosen: instance.manifest.declares(DeliverySettings.trust),
                choice: try DeliveryChoice(of: instance, in: stack),
                samplesPerSecond: options["samplesPerSecond"].double ?? 0,
                deliverSince: try DeliveryStage.deliverSince(of: instance, in: stack),
                elementsPerRequest: options["elementsPerRequest"].int.map { Int($0) } ?? .max, form: form,
                destination: destination, proveEvery: destination.isVerified ? .seconds(86_400) : nil),
            generator: generator, instance: instance.name, needsPath: needsPath, contents: contents,
            family: { DeliveryMetric(family: stack.family(of: $0)) })
    }
}
