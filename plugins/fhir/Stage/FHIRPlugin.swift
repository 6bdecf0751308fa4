import Configuration
import DeliveryKit
import Foundation
import HTTP
import HealthModel
import HealthResources
import StageKit

extension StagePlugin {
    package static let fhir = StagePlugin(
        "fhir",
        stage: { setting in
            let url = try server(of: setting.instance, in: setting.stack, setting.environment)
            let form = FHIRForm(of: setting.instance, in: setting.stack)
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
                token: .declared(by: context.instance), form: FHIRForm(of: context.instance, in: context.stack),
                timeout: context.configuration["timeoutSeconds"].double ?? 60)
        },
        source: { DeliverySource(database: $0) })

    private static func server(
        of instance: StackConfiguration.Instance, in stack: StackConfiguration, _ environment: [String: String]
    ) throws -> String {
        let url = try instance.address(
            needed: "the base URL of a FHIR R4 server", file: stack.file, environment: environment)
        guard try !HTTPClient.isReadableOnTheWay(url) || instance.configuration["plainHTTP"].bool == true else {
            throw ConfigurationError(
                file: stack.file, key: instance.addressKey,
                reason: "would send the token and health data unencrypted to another machine: use https://, or set "
                    + "'plainHTTP' to true on a network that you trust")
        }
        return url
    }
}

extension FHIRForm {
    /// What an instance's configuration says, with the daily figures of the stack's handlers.
    package init(of instance: StackConfiguration.Instance, in stack: StackConfiguration) {
        self.init(
            instance.configuration,
            figures: stack.handlers.map(\.manifest).figures.filter { $0.form == .number }.map {
                ResourceFigure(path: $0.path, unit: $0.unit, isFraction: $0.isFraction)
            })
    }
}
