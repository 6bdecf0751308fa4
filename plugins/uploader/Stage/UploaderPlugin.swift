import Configuration
import DeliveryKit
import Foundation
import HTTP
import HealthModel
import StageKit
import UploaderReading

extension StagePlugin {
    package static let uploader = StagePlugin(
        "uploader",
        stage: { setting in
            let url = try address(of: setting.instance, in: setting.stack)
            try checkToken(of: setting.instance, in: setting.stack)
            let isLoopback = try HTTPClient.isLoopback(url)
            return try DeliveryStage(
                stack: setting.stack, instance: setting.instance, address: url,
                needsPath: setting.reachesOut && !isLoopback, isOnThisMachine: isLoopback,
                generator: setting.generator)
        },
        effects: { context in
            let options = context.configuration
            return try UploadRunner(
                base: address(of: context.instance, in: context.stack), timeout: options["timeoutSeconds"].double ?? 30,
                token: DestinationToken.source(of: context.instance, in: context.stack, state: context.state))
        },
        source: { DeliverySource(database: $0) })

    /// With two sources of a token it would be unclear which one counts.
    private static func checkToken(
        of uploader: StackConfiguration.Instance, in stack: StackConfiguration
    ) throws(ConfigurationError) {
        guard let (option, other) = DestinationToken.contradiction(in: uploader.configuration) else { return }
        throw ConfigurationError(
            file: stack.file, key: "instances.\(uploader.name).configuration.\(option)",
            reason: "can't be combined with '\(other)': leave one of them out")
    }

    /// The configured address, otherwise that of the stack's own backend.
    private static func address(of uploader: StackConfiguration.Instance, in stack: StackConfiguration) throws -> String
    {
        try uploader.address ?? stack.only(.backend).map { try BackendAddress.url(of: $0) }
            ?? BackendAddress.missing(for: uploader, in: stack)
    }
}
