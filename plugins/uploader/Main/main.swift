import Foundation
import HTTP
import HealthModel
import PluginKit
import UploaderStage

PluginProgram.run("uploader") { context in
    let options = context.configuration
    let backend = context.stack.only(.backend)
    let url =
        try options["url"].string ?? backend.map { try BackendAddress.url(of: $0) } ?? BackendAddress.missing(context)
    let stack = context.stack
    return StageParts(
        stage: UploaderStage(
            observer: stack.only(.observer)?.name ?? "observer",
            handlers: stack.handlers.filter { $0.manifest.produces.contains { $0.hasPrefix("events.") } }.map(\.name),
            consolidator: stack.only(.consolidator)?.name,
            policy: UploadPolicy(
                base: options["retryBaseSeconds"].double ?? 1, cap: options["retryCapSeconds"].double ?? 900),
            instance: context.name, needsPath: try !HTTPClient.isLoopback(url),
            family: { UploadMetric(family: stack.family(of: $0)) }),
        effects: try UploadRunner(
            base: url, timeout: options["timeoutSeconds"].double ?? 30,
            token: TokenSource(
                file: options["tokenFile"].string ?? context.state.backendToken,
                environment: ProcessInfo.processInfo.environment["HEALTHBUS_BACKEND_TOKEN"])))
}
