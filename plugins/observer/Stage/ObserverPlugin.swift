import BackgroundDelivery
import Configuration
import Foundation
import HealthModel
import ObserverReading
import StageKit

extension StagePlugin {
    /// Owns the health store.
    package static let observer = StagePlugin(
        "observer",
        stage: { setting in
            let zone =
                setting.environment["HEALTHBUS_ZONE"].flatMap { $0.isEmpty ? nil : $0 }
                ?? setting.configuration["zone"].string ?? TimeZone.current.identifier
            // Refused before the store is touched: a day cut at the wrong place looks like any other.
            _ = try ZoneTimeline(zone: zone)
            return ObserverStage(
                instance: setting.name, zone: zone, defaultUser: setting.configuration["user"].string ?? "me",
                // A simulation has no folders.
                inbox: setting.reachesOut
                    ? InboxFolder.path(of: setting.instance, environment: setting.environment) : nil,
                delivery: SystemLimits(configuration: setting.configuration["delivery"]),
                locators: setting.stack.locators, readers: setting.stack.readers, plugins: setting.stack.plugins,
                app: setting.stack.only(.debouncer)?.name,
                refusal: setting.stack.registrationRefusal,
                follows: Set(
                    setting.stack.instances.filter {
                        $0.manifest.kind == .ingest && !$0.configuration["followUrl"].isNull
                    }.map(\.name)))
        },
        effects: { try Inbox(folder: $0.folder + "/inbox") }, source: { try ObserverSource(database: $0) })
}
