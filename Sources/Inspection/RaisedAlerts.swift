import Client
import Configuration
import HealthModel
import Logging
import Protocol

extension StackReader {
    /// The alerts that an instance has raised; none for one of a kind that raises none.
    package func alerts(of instance: StackConfiguration.Instance) throws -> [RaisedAlert] {
        try personalAlerts(of: instance).map(\.alert)
    }

    /// The same, each with the person whose data it concerns.
    package func personalAlerts(of instance: StackConfiguration.Instance) throws -> [(alert: RaisedAlert, user: String)] {
        guard Alert.raisers.contains(instance.manifest.kind) else { return [] }
        return try rows(instance, topic: Alert.topicPrefix).compactMap { row in
            row.body?.read(RaisedAlert.self).map { ($0, row.user) }
        }
    }
}

extension Advice {
    /// An alert whose text and remedy refer to the stack that raised it.
    package func addressed(_ alert: RaisedAlert) -> RaisedAlert {
        var alert = alert
        alert.text = addressed(alert.text)
        alert.remedy = addressed(alert.remedy)
        return alert
    }
}
