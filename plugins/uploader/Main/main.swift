import Foundation
import HTTP
import HealthModel
import PluginKit
import UploaderReading
import UploaderStage

PluginProgram.run("uploader") { context in
    let options = context.configuration
    let backend = context.stack.only(.backend)
    let url =
        try options["url"].string ?? backend.map { try BackendAddress.url(of: $0) } ?? BackendAddress.missing(context)
    return StageParts(
        stage: UploaderStage(
            stack: context.stack, instance: context.instance, address: url,
            needsPath: try !HTTPClient.isLoopback(url)),
        effects: try UploadRunner(
            base: url, timeout: options["timeoutSeconds"].double ?? 30,
            token: TokenSource(
                file: options["tokenFile"].string ?? context.state.backendToken,
                environment: ProcessInfo.processInfo.environment["HEALTHBUS_BACKEND_TOKEN"])),
        source: { UploaderSource(database: $0) })
}
