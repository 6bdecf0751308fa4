import Changelog
import Configuration
import ConsolidatorStage
import HandlerKit
import HealthModel
import HealthStore
import MessageBus
import ObserverReading
import ObserverStage
import Protocol
import SQLite
import StageKit
import Synchronization
import TestSupport
import Testing

/// A handler between the store and the daily summaries, each a separate stage, run until none of them asks for
/// anything. It reports which days were computed.
final class FiguresRig {
    static let zone = "Europe/Berlin"

    private let observer: StageRig<ObserverStage>
    private let handler: StageRig<HandlerStage>
    private let consolidator: StageRig<ConsolidatorStage>
    private let name: String
    private let writer: HealthStoreWriter
    private let counted = Days()

    private final class Days: Sendable {
        let list = Mutex<[LocalDay]>([])
    }

    private struct Counted: DayHandler {
        let base: any DayHandler
        let days: Days
        var version: Int { base.version }
        var detailedTypes: Set<String> { base.detailedTypes }
        var payloadTypes: Set<String> { base.payloadTypes }
        var during: [String: String] { base.during }
        var characteristics: Set<String> { base.characteristics }

        func window(_ configuration: Value) throws -> HandlerWindow { try base.window(configuration) }
        func condition(_ name: String, _ value: Value) throws -> Value { try base.condition(name, value) }
        func conditionLimit(_ configuration: Value) -> Int { base.conditionLimit(configuration) }

        func compute(_ input: DayInput) throws -> DayOutput {
            days.list.withLock { $0.append(input.day) }
            return try base.compute(input)
        }
    }

    init(_ name: String, _ handler: any DayHandler, options: Value = .null) throws {
        self.name = name
        let manifest = try Checkout.manifest(name)
        let configuration = try SchemaCheck(file: manifest.file).resolve(options, schema: manifest.configuration)
        let counting = Counted(base: handler, days: counted)
        observer = try StageRig { ObserverStage(instance: "observer", zone: Self.zone, defaultUser: "me") }
        self.handler = try StageRig {
            HandlerStage(
                instance: name, manifest: manifest, configuration: configuration, handler: counting, namedTypes: [],
                observer: "observer")
        }
        consolidator = try StageRig { ConsolidatorStage(observer: "observer", handlers: [name]) }
        writer = try HealthStoreWriter(database: observer.store.database, user: "me", sequences: observer.store)
    }

    func add(_ records: [Record]) throws {
        try observer.store.transaction {
            _ = try writer.ingest(
                Record.batch(records), session: ImportSession(source: "test"), plausibility: { _ in { _, _, _ in nil } }
            )
        }
    }

    /// Makes the handler watch these conditions; null removes one.
    /// - Returns: why the handler refuses; nil if it doesn't.
    func watch(_ conditions: [String: Value], user: String = "me") throws -> String? {
        var request = RepairRequest(id: "watch", action: "watch")
        (request.user, request.conditions) = (user, conditions)
        var repaired = RepairOutcome.done(.null)
        try handler.turn { repaired = try handler.stage.repair(request, $0) }
        if case .refused(let why) = repaired { return why }
        return nil
    }

    /// The handler's process ends and starts again.
    /// - Parameter meanwhile: what happens to the handler's file in the meantime.
    func restart(meanwhile: (Database) throws -> Void = { _ in }) throws {
        try handler.store.transaction { try meanwhile(handler.store.database) }
        try handler.restart()
    }

    var log: EventLog { handler.log }

    /// The handler's rows whose topic begins with the given prefix, without tombstones, by key.
    func rows(_ topic: String) throws -> [String: Value] {
        try handler.rows().filter { $0.value.topic.hasPrefix(topic) }.compactMapValues(\.body)
    }

    func delete(_ uuid: SampleID) throws {
        let deleted = try observer.store.transaction { try writer.delete(uuids: [uuid]) }
        #expect(deleted == 1)
    }

    /// Passes on every change until everything is computed, summarized and final.
    /// - Returns: the days that were computed; a day is listed once for each time it was computed.
    func settle() throws -> [LocalDay] {
        counted.list.withLock { $0 = [] }
        let head = observer.store.head
        try handler.hear(
            "sync.\(name)", ["head": Value(head), "released": Value(AnchorVector(base: head.sequence))])
        try answer(handler)
        try consolidator.hear(beat("observer", head, details: ["importOpen": false]))
        try answer(consolidator)
        try consolidator.hear(beat(name, handler.store.head, frontier: try handler.report().frontier))
        try answer(consolidator)
        try consolidator.finishTurns()
        // A change of zones has withdrawn the first mark; the observer reports its position again.
        try consolidator.hear(beat("observer", head, details: ["importOpen": false]))
        try answer(consolidator)
        try consolidator.finishTurns()
        return counted.list.withLock { $0 }
    }

    /// Answers a stage's pulls with data from the other stages' files.
    private func answer<Asking>(_ asking: StageRig<Asking>) throws {
        var rounds = 0
        while let pull = asking.pulls.first {
            rounds += 1
            try #require(rounds < 20_000, "asks without end")
            let database = pull.producer == "observer" ? observer.store.database : handler.store.database
            let source: any PullSource =
                pull.producer == "observer"
                ? try ObserverSource(database: database) : ChangelogSource(database: database)
            var client = PullClient(consumer: "test")
            let request = client.begin(pull, at: 0)
            var answer: PullAnswer?
            try PullService(
                instance: pull.producer, log: .silent, notice: { Issue.record("noticed: \($0)") },
                send: { _, part in answer = client.receive(part, from: pull.producer, at: 0) ?? answer }
            ).serve(request.body, database, source)
            try asking.answer(pull, try #require(answer).result)
        }
    }

    /// The handler's figures of a day; nil when it has none.
    func figures(_ day: LocalDay) throws -> Value? {
        try handler.rows()["figures/me/\(day)"].flatMap(\.body)?["figures"]
    }

    /// The days whose figures have changed since a sequence number, with their current summaries.
    func summaries(after sequence: SequenceNumber = .beginning) throws -> [LocalDay: Value] {
        let changed = try consolidator.rows().values.filter { $0.sequence > sequence }
        return Dictionary(
            uniqueKeysWithValues: changed.compactMap { row in
                row.day.map { (LocalDay(number: $0), row.body ?? .null) }
            })
    }

    /// The sequence number that the summaries have reached.
    var summarySequence: SequenceNumber { consolidator.store.sequence }
}
