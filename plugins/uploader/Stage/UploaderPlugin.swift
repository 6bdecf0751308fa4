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
            return try DeliveryStage(
                stack: setting.stack, instance: setting.instance, address: url,
                needsPath: try setting.reachesOut && !HTTPClient.isLoopback(url), generator: setting.generator)
        },
        effects: { context in
            let options = context.configuration
            return try UploadRunner(
                base: address(of: context.instance, in: context.stack), timeout: options["timeoutSeconds"].double ?? 30,
                token: TokenSource(
                    file: options["tokenFile"].string ?? context.state.backendToken,
                    environment: ProcessInfo.processInfo.environment["HEALTHBUS_BACKEND_TOKEN"]))
        },
        source: { DeliverySource(database: $0) })

    /// As it is configured, else the stack's own backend.
    private static func address(of uploader: StackConfiguration.Instance, in stack: StackConfiguration) throws -> String
    {
        try uploader.configuration["url"].string ?? stack.only(.backend).map { try BackendAddress.url(of: $0) }
            ?? BackendAddress.missing(for: uploader, in: stack)
    }
}
