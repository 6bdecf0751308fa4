import Configuration
import DeliveryKit
import Foundation
import HealthModel
import HealthViews
import Logging
import PostgreSQL
import PostgresStore
import StageKit

extension StagePlugin {
    package static let postgres = StagePlugin(
        "postgres",
        stage: { setting in
            let schema = try schema(of: setting.instance, in: setting.stack)
            let source = url(of: setting.instance, environment: setting.environment)
            let address = try PostgresAddress(url: source.current())
            return try DeliveryStage(
                stack: setting.stack, instance: setting.instance, address: "\(address) \(schema.name)",
                needsPath: setting.reachesOut && !address.isLocal, generator: setting.generator)
        },
        effects: { context in
            let options = context.configuration
            return PostgresRunner(
                url: url(of: context.instance, environment: ProcessInfo.processInfo.environment),
                schema: try schema(of: context.instance, in: context.stack),
                timeout: options["timeoutSeconds"].double ?? 60)
        },
        source: { DeliverySource(database: $0) })

    private static func url(of instance: StackConfiguration.Instance, environment: [String: String]) -> DatabaseURL {
        DatabaseURL(file: instance.configuration["urlFile"].string, environment: environment[DatabaseURL.variable])
    }

    private static func schema(
        of instance: StackConfiguration.Instance, in stack: StackConfiguration
    ) throws -> PostgresSchema {
        let name = instance.configuration["schema"].string ?? "healthbus"
        guard let schema = PostgresSchema(name, views: HealthViews(figures: stack.figures)) else {
            throw ConfigurationError(
                file: stack.file, key: "instances.\(instance.name).configuration.schema",
                reason:
                    "must be at most 50 lower-case letters, digits and '_', and begin with a letter, but not with 'pg_'"
            )
        }
        return schema
    }
}
