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
import StageKit
import Synchronization
import TestSupport
import Testing

/// One handler between the store and the daily summaries, each a stage of its own, driven until nobody asks for
/// anything. Tells which days were computed.
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

        func compute(_ input: DayInput) throws -> DayOutput {
            days.list.withLock { $0.append(input.day) }
            return try base.compute(input)
        }
    }

    init(_ name: String, _ handler: any DayHandler) throws {
        self.name = name
        let manifest = try Checkout.manifest(name)
        let configuration = try SchemaCheck(file: manifest.file).resolve(.null, schema: manifest.configuration)
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

    func delete(_ uuid: SampleID) throws {
        let deleted = try observer.store.transaction { try writer.delete(uuids: [uuid]) }
        #expect(deleted == 1)
    }

    /// Lets everybody hear of what has changed, until all of it is computed, summed up and final.
    /// - Returns: the days that were computed, one entry for each time.
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
        // What was learned of zones took the first mark back; the observer says again where it stands.
        try consolidator.hear(beat("observer", head, details: ["importOpen": false]))
        try answer(consolidator)
        return counted.list.withLock { $0 }
    }

    /// Answers a stage's pulls out of the other stages' files.
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
                instance: pull.producer, log: .silent, lostRows: { Issue.record("lost rows of \($0)") },
                send: { _, part in answer = client.receive(part, from: pull.producer, at: 0) ?? answer }
            ).serve(request.body, database, source)
            try asking.answer(pull, try #require(answer).result)
        }
    }

    /// The handler's figures of a day; nil when it has none.
    func figures(_ day: LocalDay) throws -> Value? {
        try handler.rows()["figures/me/\(day)"].flatMap(\.body)?["figures"]
    }

    /// The days whose figures changed since a sequence, with what they are now.
    func summaries(after sequence: SequenceNumber = .beginning) throws -> [LocalDay: Value] {
        let changed = try consolidator.rows().values.filter { $0.sequence > sequence }
        return Dictionary(
            uniqueKeysWithValues: changed.compactMap { row in
                row.day.map { (LocalDay(number: $0), row.body ?? .null) }
            })
    }

    /// Where the summaries stand.
    var summarySequence: SequenceNumber { consolidator.store.sequence }
}
