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
    package func personalAlerts(of instance: StackConfiguration.Instance) throws -> [(alert: RaisedAlert, user: String)]
    {
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

extension StackReader {
    /// When each of these ascending sequence numbers was committed; nil for any committed before such times were
    /// recorded.
    package func moments(_ instance: StackConfiguration.Instance, of sequences: [SequenceNumber]) throws -> [Instant?] {
        guard let last = sequences.max() else { return [] }
        var known: [(sequence: SequenceNumber, at: Instant)] = []
        var next = 0
        return try sequences.map { sequence in
            while next < known.count, known[next].sequence < sequence { next += 1 }
            if next == known.count {
                // One answer holds a bounded number of commits: the next ones are requested when needed.
                let answer: [Page<MomentsPage>] = try pages(instance, .moments(from: sequence, to: last))
                known = (answer.last?.moments ?? []).compactMap {
                    $0.count == 2 ? (SequenceNumber($0[0]), Instant(microseconds: $0[1])) : nil
                }
                next = 0
            }
            return known.indices.contains(next) ? known[next].at : nil
        }
    }
}
