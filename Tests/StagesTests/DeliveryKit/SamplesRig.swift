import Changelog
import DeliveryKit
import HTTP
import HealthModel
import MessageBus
import Protocol
import Simulation
import StageKit
import TestSupport
import Testing
import UploaderStage

/// An uploader that delivers samples of two metrics, and a stand-in for its backend, which may refuse one of them.
final class SamplesRig {
    static let rates = DeliveryMetric(family: "heart-rate")
    private static let types = ["HKQuantityTypeIdentifierStepCount", "HKQuantityTypeIdentifierHeartRate"]

    let rig: StageRig<DeliveryStage>
    var backend = FakeBackend()
    /// The metric of which the backend accepts nothing, not even a request without elements.
    var refused: DeliveryMetric?
    /// The versions that the backend has accepted, in that order.
    private(set) var accepted: [DeliveryMetric: [Int64]] = [:]
    private var generation = "one"
    /// The metrics of the observer's samples. The first sample has the sequence number 1, and ends a second after 1970.
    private(set) var samples: [DeliveryMetric] = []

    init(_ settings: DeliverySettings = .init()) throws {
        // What is compared element by element is tested elsewhere.
        var unproven = settings
        unproven.proveEvery = nil
        rig = try StageRig { [unproven] in
            DeliveryStage(
                observer: "observer", handlers: [], consolidator: nil, policy: RetryPolicy(base: 1, cap: 8),
                settings: unproven, generator: SeededRandom(seed: 5), instance: "uploader",
                family: { $0 == Self.types[1] ? Self.rates : .other })
        }
        try rig.turn()
    }

    private var newest: StoreHead { head(Int64(samples.count), generation: generation) }

    /// The observer gets samples of these metrics, and releases them.
    func add(_ metrics: DeliveryMetric...) throws {
        samples += metrics
        try release()
    }

    /// Releases all samples, and answers whatever is asked then.
    func release() throws {
        try rig.hear("sync.uploader", ["head": Value(newest), "released": .integer(Int64(samples.count))])
        try serve()
    }

    /// The observer's store was restored: what has been consumed is no longer valid.
    func restore() throws {
        generation += "+"
        try rig.hear("sync.uploader", ["head": Value(newest), "released": .integer(Int64(samples.count))])
        try rig.answer(try #require(rig.pulls.first { $0.name == "samples" }), .reset(newest))
        try release()
    }

    /// Lets time pass, and answers whatever is asked then.
    func pass(_ time: Duration) throws {
        try rig.pass(time)
        try serve()
    }

    /// Answers pulls, requests and questions until there are none.
    func serve() throws {
        for _ in 0..<1000 {
            if let question = rig.effects.first(where: { $0.request is HoldingsRequest }) {
                try rig.reply(question, backend.holdings)
            } else if let pull = rig.pulls.first(where: { $0.name == "samples" }) {
                try answer(pull)
            } else if let effect = rig.effects.first(where: { $0.request is DeliveryRequest }) {
                let request = try #require(effect.request as? DeliveryRequest)
                let metric = request.group.metric
                if metric == refused {
                    try rig.reply(effect, UploadReply.answered(status: 400, body: []))
                    continue
                }
                accepted[metric, default: []] += request.part.map { request.group.element($0).version }
                try rig.reply(effect, try backend.take(request))
            } else {
                return
            }
        }
        Issue.record("there is always something more to answer")
    }

    private func answer(_ pull: Pull) throws {
        let after = pull.query["after"]?["base"].int ?? pull.query["after"]?.int ?? 0
        var page = SamplePage()
        page.types = Self.types
        page.origins = [Origin(sourceName: "Watch")]
        for (index, metric) in samples.enumerated() where index >= after {
            let sequence = Int64(index) + 1
            page.ids.append(SampleID(high: UInt64(sequence), low: 7))
            page.sequence.append(sequence)
            page.type.append(metric == Self.rates ? 1 : 0)
            page.start.append(sequence * 1_000_000)
            page.end.append(sequence * 1_000_000)
            page.value.append(Double(sequence))
            page.origin.append(0)
            page.flags.append([])
        }
        try rig.answer(
            pull,
            .pages([
                [
                    "samples": page.wireValue, "users": ["me"],
                    "user": .column(.int32(Array(repeating: 0, count: page.count))), "from": .integer(after),
                    "through": .integer(newest.sequence.value), "head": Value(newest),
                ]
            ]))
    }

    // MARK: How it stands

    var delivered: Int { backend.alive("samples").count }
    func frontier() throws -> SequenceNumber? { try rig.report().frontier["observer"] }
    func detail(_ name: String) throws -> Value { try rig.report().details[name] ?? .null }
    func letters() throws -> Int { try DeadLetter.page(in: rig.store.database, RepairSelection(), limit: 1000).count }
    /// Subjects of the raised alerts.
    func alerts() throws -> Set<String> {
        var raised: Set<String> = []
        try rig.turn { raised = Set(try $0.alerts(.degraded).map(\.subject)) }
        return raised
    }
}
