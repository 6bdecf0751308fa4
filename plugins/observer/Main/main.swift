import BackgroundDelivery
import Foundation
import HealthModel
import ObserverReading
import ObserverStage
import PluginKit

PluginProgram.run("observer") { context in
    let environment = ProcessInfo.processInfo.environment
    let zone =
        environment["HEALTHBUS_ZONE"].flatMap { $0.isEmpty ? nil : $0 } ?? context.configuration["zone"].string
        ?? TimeZone.current.identifier
    // Refused before the store is touched: a day that is cut wrongly can't be told from one that is right.
    _ = try ZoneTimeline(zone: zone)
    return StageParts(
        stage: ObserverStage(
            instance: context.name, zone: zone, defaultUser: context.configuration["user"].string ?? "me",
            delivery: DeliveryPolicy(configuration: context.configuration["delivery"]),
            refusal: context.stack.registrationRefusal),
        effects: try Inbox(folder: context.folder + "/inbox"),
        source: { try ObserverSource(database: $0) })
}
