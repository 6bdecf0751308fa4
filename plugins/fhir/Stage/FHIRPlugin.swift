import Configuration
import DeliveryKit
import Foundation
import HTTP
import HealthModel
import HealthResources
import StageKit
import UploaderReading

extension StagePlugin {
    package static let fhir = StagePlugin(
        "fhir",
        stage: { setting in
            let url = try server(of: setting.instance, in: setting.stack, setting.environment)
            let form = form(of: setting.instance, in: setting.stack)
            if let problem = form.patients.problem {
                throw ConfigurationError(
                    file: setting.stack.file, key: "instances.\(setting.name).configuration.patients", reason: problem)
            }
            return try DeliveryStage(
                stack: setting.stack, instance: setting.instance, address: FHIRServer(url).text, form: form.text,
                needsPath: try setting.reachesOut && !HTTPClient.isLoopback(url),
                contents: form.contentOf, generator: setting.generator)
        },
        effects: { context in
            let environment = ProcessInfo.processInfo.environment
            return try FHIRRunner(
                url: try server(of: context.instance, in: context.stack, environment),
                token: token(of: context.instance, environment), form: form(of: context.instance, in: context.stack),
                timeout: context.configuration["timeoutSeconds"].double ?? 60)
        },
        source: { DeliverySource(database: $0) })

    private static let serverVariable = "HEALTHBUS_FHIR_SERVER"
    private static let tokenVariable = "HEALTHBUS_FHIR_TOKEN"

    private static func server(
        of instance: StackConfiguration.Instance, in stack: StackConfiguration, _ environment: [String: String]
    ) throws -> String {
        func mistake(_ reason: String) -> ConfigurationError {
            ConfigurationError(
                file: stack.file, key: "instances.\(instance.name).configuration.server", reason: reason)
        }
        let told = environment[serverVariable].flatMap { $0.isEmpty ? nil : $0 }
        guard let url = instance.configuration["server"].string ?? told else {
            throw mistake("is needed, or \(serverVariable): the base URL of a FHIR R4 server")
        }
        guard try !HTTPClient.isReadableOnTheWay(url) || instance.configuration["plainHTTP"].bool == true else {
            throw mistake(
                "would send the token and health data unencrypted to another machine: use https://, or set 'plainHTTP' "
                    + "to true on a network that you trust")
        }
        return url
    }

    /// The file's token takes precedence over the environment's, so that two instances can have different tokens.
    private static func token(
        of instance: StackConfiguration.Instance, _ environment: [String: String]
    ) -> TokenSource? {
        if let file = instance.configuration["tokenFile"].string { return TokenSource(file: file, environment: nil) }
        let told = environment[tokenVariable].flatMap { $0.isEmpty ? nil : $0 }
        return told.map { TokenSource(file: nil, environment: $0) }
    }

    private static func form(of instance: StackConfiguration.Instance, in stack: StackConfiguration) -> FHIRForm {
        FHIRForm(
            instance.configuration,
            figures: stack.handlers.map(\.manifest).figures.filter { $0.form == .number }.map {
                ResourceFigure(path: $0.path, unit: $0.unit, isFraction: $0.isFraction)
            })
    }
}
