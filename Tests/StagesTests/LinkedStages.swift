import Changelog
import Configuration
import ConsolidatorStage
import HandlerKit
import HealthModel
import HealthStore
import HeartRateStage
import MessageBus
import ObserverReading
import ObserverStage
import Protocol
import SQLite
import SleepStage
import StageKit
import StepsStage
import TestSupport

/// The observer's store, three handlers and the consolidator, linked by hand: no bus, no debouncer, one clock, and
/// nothing happens unless the test makes it happen.
final class LinkedStages {
    static let user = "me"

    let observer: StageRig<ObserverStage>
    let handlers: [StageRig<HandlerStage>]
    let consolidator: StageRig<ConsolidatorStage>
    let zones: ZoneTimeline

    private static let names = ["heart-rate", "sleep", "steps"]

    /// The wall clock of all stages; the monotonic one advances automatically, by a second for each turn of `flow`.
    var now: Instant {
        didSet {
            observer.now = now
            consolidator.now = now
            for handler in handlers { handler.now = now }
        }
    }

    /// - Parameter follows: the instances that may bring another stack's changes.
    init(zone: String = "Europe/Berlin", now: Instant, follows: Set<String> = []) throws {
        self.now = now
        zones = try ZoneTimeline(zone: zone)
        observer = try StageRig(now: now) {
            ObserverStage(instance: "observer", zone: zone, defaultUser: Self.user, follows: follows)
        }
        let implementations: [any DayHandler] = [HeartRateHandler(), SleepHandler(), StepsHandler()]
        handlers = try zip(Self.names, implementations).map { name, handler in
            let manifest = try Checkout.manifest(name)
            let configuration = try SchemaCheck(file: manifest.file).resolve(.null, schema: manifest.configuration)
            return try StageRig(now: now) {
                HandlerStage(
                    instance: name, manifest: manifest, configuration: configuration, handler: handler,
                    namedTypes: [], observer: "observer")
            }
        }
        consolidator = try StageRig(now: now) { ConsolidatorStage(observer: "observer", handlers: Self.names) }
    }

    // MARK: The store

    private func change(_ body: (HealthStoreWriter) throws -> Void) throws {
        try observer.turn { turn in
            let stage = try turn.write()
            try body(try HealthStoreWriter(database: stage.database, user: Self.user, sequences: stage))
        }
    }

    func add(_ records: [Record]) throws {
        try change { writer in
            _ = try writer.ingest(
                Record.batch(records), session: ImportSession(source: "test"), plausibility: { _ in { _, _, _ in nil } }
            )
        }
    }

    /// Permanently deletes the samples that start at these times.
    func delete(_ records: [Record]) throws {
        let starts = Set(records.map(\.start))
        let reader = try HealthStoreReader(database: observer.store.database)
        let page = try reader.anchored(
            TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: 0)),
            limits: PullLimits(rows: .max, bytes: .max, scanned: .max)
        ).samples
        let ids = page.ids.indices.filter { starts.contains(page.startOf($0)) }.map { page.ids[$0] }
        try change { try $0.delete(ids: ids) }
    }

    // MARK: What goes between them

    /// Passes everything on until nothing moves anymore.
    /// - Parameter hearsObserver: whether the consolidator receives the observer's heartbeats; without them nothing
    ///   becomes final.
    func flow(hearsObserver: Bool = true) throws {
        for _ in 0..<50 {
            let before = [consolidator.store.sequence] + handlers.map(\.store.sequence)
            let head = observer.store.head
            for (name, handler) in zip(Self.names, handlers) {
                let body: Value = ["head": Value(head), "released": .integer(head.sequence.value)]
                try handler.hear("sync.\(name)", body)
                try answer(handler)
            }
            for (name, handler) in zip(Self.names, handlers) {
                try consolidator.hear(
                    beat(name, handler.store.head, frontier: try handler.report().frontier))
                try answer(consolidator)
            }
            if hearsObserver { try consolidator.hear(observerBeat()) }
            try answer(consolidator)
            let after = [consolidator.store.sequence] + handlers.map(\.store.sequence)
            // A mark is taken in one round and reached in the next.
            if before == after, try !hearsObserver || isLevel { return }
        }
        throw LinkedStagesError.endless
    }

    /// Whether the consolidator has taken a mark that covers everything, and reached it. It takes none while an import
    /// is open.
    private var isLevel: Bool {
        get throws {
            guard try !isImporting else { return true }
            guard try consolidator.report().frontier["observer"] == observer.store.sequence else { return false }
            let sequence = consolidator.store.sequence
            for _ in 0..<2 { try consolidator.hear(observerBeat()) }
            return consolidator.store.sequence == sequence
        }
    }

    func observerBeat() throws -> Heartbeat {
        beat("observer", observer.store.head, details: ["importOpen": .bool(try isImporting)])
    }

    private var isImporting: Bool { get throws { try observer.report().details["importOpen"] == true } }

    /// Answers a stage's pulls with data from its producers' files, until the stage asks for nothing.
    private func answer<Driven: Stage>(_ rig: StageRig<Driven>) throws {
        for _ in 0..<200 {
            guard let pull = rig.pulls.first else { return }
            var client = PullClient(consumer: "test")
            var found: PullAnswer?
            let request = client.begin(pull, at: 0)
            let service = PullService(
                instance: pull.producer, log: .silent, notice: { _ in },
                send: { _, part in found = client.receive(part, from: pull.producer, at: 0) ?? found })
            if pull.producer == "observer" {
                let database = observer.store.database
                try service.serve(request.body, database, ObserverSource(database: database))
            } else if let index = Self.names.firstIndex(of: pull.producer) {
                let database = handlers[index].store.database
                try service.serve(request.body, database, ChangelogSource(database: database))
            }
            guard let found else { throw LinkedStagesError.unanswered(pull.name) }
            try rig.answer(pull, found.result)
        }
        throw LinkedStagesError.endless
    }

    // MARK: What came of it

    /// The summaries by date.
    func days() throws -> [String: Value] {
        Dictionary(
            uniqueKeysWithValues: try consolidator.rows().values.compactMap { row in
                row.body.map { ($0["date"].string ?? "", $0) }
            })
    }

    /// Dates of the summaries written after `sequence`, each in its newest version: those the uploader fetches.
    func delivered(after sequence: SequenceNumber) throws -> Set<String> {
        Set(try consolidator.rows().values.filter { $0.sequence > sequence }.compactMap { $0.body?["date"].string })
    }
}

enum LinkedStagesError: Error {
    case endless
    case unanswered(String)
}

extension ZoneTimeline {
    /// An hour of a day, counted from its beginning.
    func hour(_ hour: Double, of day: LocalDay) -> Instant {
        (ranges(of: day).first?.lowerBound ?? .epoch) + .seconds(Int64(hour * 3600))
    }
}
