import BodyStage
import Changelog
import EnergyStage
import HTTP
import HealthImport
import HealthModel
import HealthPush
import HealthStore
import HeartRateStage
import ObserverStage
import Protocol
import SleepStage
import StageKit
import StepsStage
import TestSupport
import Testing
import WorkoutsStage

/// Something that arrives in one of these ways.
enum Arrival {
    /// Starts reading an export made at this time (seconds since 1970).
    case export(id: String, made: Int64)
    /// Elements of the export being read.
    case elements(String)
    case exportEnds
    /// A request from Health Auto Export.
    case autoExport(String, aggregation: String)
    /// A request to another way.
    case pushed(WayIn, String)
    /// A request to `/v1/samples`.
    case samples([String], deleted: [String])
}

/// An ingest in front of an observer, while an import is also running.
final class ThreeWays {
    private let rig: IngestRig
    private var reading: (id: String, effect: Effect)?

    init() throws { rig = try IngestRig(requestsPerMinute: 100_000) }

    func take(_ arrival: Arrival) throws {
        switch arrival {
        case .export(let id, let made):
            let path = Value.string("/\(id).xml")
            try rig.observer.hear(
                "control.observer", ["command": "import", "id": .string(id), "path": path, "user": "anna"])
            try answer {
                if case .adopt? = $0 { true } else { false }
            } with: { _ in
                FileStep.adopted(id: id)
            }
            let effect = try #require(
                rig.observer.effects.last { if case .read? = $0.request as? ObserverEffect { true } else { false } })
            rig.observer.effects.removeAll { $0.id == effect.id }
            reading = (id, effect)
            try report(.found(.info(ExportInfo(date: Instant(seconds: made), locale: "en_DE"))))
        case .elements(let text):
            for batch in try Self.batches(text) { try report(.found(.records(batch))) }
        case .exportEnds: try report(.finished(ReadSummary()))
        case .autoExport(let body, let aggregation):
            let answer = try rig.send(
                "POST", "/v1/health-auto-export", body: body, headers: ["Automation-Aggregation": aggregation])
            try #require(answer.status == 200, "\(answer.text)")
            #expect(try Value(json: answer.body)["quarantined"] == 0, "\(answer.text.suffix(500))")
        case .pushed(let way, let body):
            let answer = try rig.push(body, by: way)
            try #require(answer.status == way.status, "\(answer.text)")
            #expect(try Value(json: answer.body)["quarantined"] == 0, "\(answer.text.suffix(500))")
        case .samples(let samples, let deleted):
            #expect(try rig.post(samples, deleted: deleted)["quarantined"] == 0)
        }
    }

    private func answer(
        _ fits: (ObserverEffect?) -> Bool, with reply: (Effect) -> any Sendable
    ) throws {
        let effect = try #require(rig.observer.effects.last { fits($0.request as? ObserverEffect) })
        try rig.observer.reply(effect, reply(effect))
    }

    private func report(_ event: ImportEvent) throws {
        try rig.observer.reply(try #require(reading?.effect), event)
    }

    /// The batches that a reader makes from elements.
    private static func batches(_ elements: String) throws -> [RecordBatch] {
        let folder = try TemporaryFolder()
        let file = try folder.file(
            "export.xml",
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<HealthData locale=\"en_DE\">\n\(elements)\n</HealthData>\n")
        var batches: [RecordBatch] = []
        let summary = try ExportReader(path: file).read { if case .records(let batch) = $0 { batches.append(batch) } }
        try #require(summary.damaged == nil && summary.quarantined == 0)
        return batches
    }

    /// All samples that aren't deleted, in full.
    func page() throws -> SamplePage { try rig.page() }

    /// What each handler computes for each day.
    static func figures(of page: SamplePage) throws -> [String: DayOutput] {
        let handlers: [(String, any DayHandler)] = [
            ("steps", StepsHandler()), ("heart-rate", HeartRateHandler()), ("sleep", SleepHandler()),
            ("energy", EnergyHandler()), ("body", BodyHandler()), ("workouts", WorkoutsHandler()),
        ]
        let zones = try ZoneTimeline(zone: ThreeWayLife.zone)
        var found: [String: DayOutput] = [:]
        for day in 0...ThreeWayLife.days {
            for (name, handler) in handlers {
                let date = ThreeWayLife.firstDay.adding(days: day)
                found["\(date) \(name)"] = try handler.compute(
                    DayInput(user: "anna", day: date, window: handler.window([:]), zones: zones, cutting: page))
            }
        }
        return found
    }
}
