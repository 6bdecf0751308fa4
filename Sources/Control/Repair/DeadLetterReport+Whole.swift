import Changelog
import Client
import Configuration
import DeliveryKit
import HealthModel
import Inspection
import Protocol
import UploaderReading

extension DeadLetterReport {
    /// The letter with its element as the stores have it now: `stored` is its version there, and `body` what would be
    /// sent for it. Both are null if no store has it any more to deliver.
    package func whole(_ entry: Entry) throws -> Value {
        var members = readable(entry)
        let found = try element(of: entry.letter)
        members["stored"] = Value(found?.version)
        members["body"] = found?.body ?? .null
        return .object(members)
    }

    private func element(of letter: DeadLetter) throws -> (body: Value, version: Int64)? {
        let reader = stack.reader()
        for producer in stack.configuration.instances where producer.manifest.produces(for: letter.metric) {
            let found =
                producer.manifest.kind == .observer
                ? try sample(of: letter, producer, reader) : try document(of: letter, producer, reader)
            if let found { return found }
        }
        return nil
    }

    /// The sample in the version that was refused or, if it has another one by now, in that.
    private func sample(
        of letter: DeadLetter, _ observer: StackConfiguration.Instance, _ reader: StackReader
    ) throws -> (body: Value, version: Int64)? {
        if let found = try sample(of: letter, at: letter.sequence, observer, reader) { return found }
        guard let id = SampleID(letter.id) else { return nil }
        let pages = try reader.pages(observer, .sample(id.description))
        guard let now = pages.first?.sample else { return nil }
        return try sample(of: letter, at: now.sequence, observer, reader)
    }

    private func sample(
        of letter: DeadLetter, at sequence: SequenceNumber, _ observer: StackConfiguration.Instance,
        _ reader: StackReader
    ) throws -> (body: Value, version: Int64)? {
        guard let head = try head(of: observer, reader), head.sequence >= sequence else { return nil }
        let pages = try reader.pages(
            observer, .samples(.allExcept([HealthType.workoutIdentifier])),
            PullPlace(of: head, after: sequence.previous, until: sequence))
        return try letter.element(samples: pages.map(\.content), changes: [], of: observer.name) {
            stack.configuration.family(of: $0)
        }
    }

    /// The newest row about it. A changelog has only one for each of its keys, but isn't sorted by them.
    private func document(
        of letter: DeadLetter, _ producer: StackConfiguration.Instance, _ reader: StackReader
    ) throws -> (body: Value, version: Int64)? {
        let day = LocalDay(letter.id)?.number
        var row: ChangedRow?
        try reader.forEachRow(
            producer, topic: producer.manifest.kind == .consolidator ? "daily.summary" : "events.",
            days: day.map { $0...$0 }
        ) {
            if $0.user == letter.user, $0.key.hasSuffix("/" + letter.id) { row = $0 }
        }
        guard let row else { return nil }
        let page = ChangesPage(rows: [row], from: row.sequence.previous, through: row.sequence)
        return try letter.element(samples: [], changes: [page], of: producer.name) {
            stack.configuration.family(of: $0)
        }
    }

    private func head(of producer: StackConfiguration.Instance, _ reader: StackReader) throws -> StoreHead? {
        if try reader.isRunning(producer.name), !reader.silent.contains(producer.name),
            let beat = try reader.gather([producer.name], within: 2)[producer.name]?.beat
        {
            return beat.head
        }
        return try stack.kept(producer.name, reader) { try StageDatabase.readHead(in: $0).head }
    }

    package static func text(_ whole: Value) -> String {
        let names = [
            "id", "stage", "path", "element", "version", "status", "reason", "tries", "firstTried", "lastTried", "user",
        ]
        let lines = names.filter { $0 != "path" || !whole[$0].isNull }.map { name in
            name + String(repeating: " ", count: max(1, 12 - name.count))
                + (whole[name].string ?? whole[name].json()) + "\n"
        }
        guard let stored = whole["stored"].int else {
            return lines.joined() + "\nThere is nothing left to send: 'healthbus dead-letters retry "
                + "\(whole["id"].int ?? 0)' forgets it.\n"
        }
        let refused = whole["version"].int ?? stored
        let change =
            stored == refused
            ? ""
            : "Version \(refused) was refused. It has changed since: version \(stored), below, is sent automatically.\n\n"
        return lines.joined() + "\n" + change + whole["body"].json(pretty: true) + "\n"
    }
}

extension Manifest {
    /// Whether it may produce elements of a metric.
    fileprivate func produces(for metric: String) -> Bool {
        switch kind {
        case .observer: metric != DeliveryMetric.daily.rawValue
        case .consolidator: metric == DeliveryMetric.daily.rawValue
        case .handler:
            (metric == DeliveryMetric.sleep.rawValue || metric == DeliveryMetric.workouts.rawValue)
                && produces.contains { $0.hasPrefix("events.") }
        default: false
        }
    }
}
