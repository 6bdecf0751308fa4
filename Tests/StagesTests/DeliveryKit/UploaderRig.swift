import Changelog
import DeliveryKit
import HTTP
import HealthModel
import MessageBus
import Protocol
import SQLite
import Simulation
import StageKit
import TestSupport
import Testing
import UploaderStage

/// An uploader that delivers daily summaries, and a stand-in for its backend.
final class UploaderRig {
    let rig: StageRig<DeliveryStage>
    var backend = FakeBackend()
    /// The consolidator's documents.
    private(set) var days: [Int64] = []
    /// The producers that answer.
    var heard: Set<String> = ["consolidator"]
    /// The sequence numbers of those that got new ones.
    private var renewed: [Int64: Int64] = [:]

    convenience init(_ settings: DeliverySettings = .init(), first address: String? = nil) throws {
        var first = settings
        first.address = address ?? settings.address
        try self.init(lives: [first, settings])
    }

    /// - Parameters:
    ///   - lives: the configuration at each start; the last one also applies to all later starts.
    ///   - handlers: those whose events are delivered; none of them is heard.
    init(lives: [DeliverySettings], handlers: [String] = []) throws {
        var coming = lives.makeIterator()
        var settings = DeliverySettings()
        rig = try StageRig {
            settings = coming.next() ?? settings
            return DeliveryStage(
                observer: "observer", handlers: handlers, consolidator: "consolidator",
                policy: RetryPolicy(base: 1, cap: 8), settings: settings,
                generator: SeededRandom(seed: 5), instance: "uploader", family: { _ in .other })
        }
        try rig.turn()
    }

    static func row(_ number: Int64, sequence: Int64? = nil) -> KeyedChangelog.Row {
        KeyedChangelog.Row(
            sequence: SequenceNumber(sequence ?? number), key: "day/me/\(date(number))", topic: "daily.summary",
            user: "me",
            day: Int(number),
            body: ["date": .string(date(number)), "steps": .integer(number)])
    }

    static func date(_ number: Int64) -> String { "2025-03-\(10 + number)" }

    /// Adds days to the consolidator, and lets the uploader pull them.
    func add(_ numbers: ClosedRange<Int64>) throws {
        write(numbers)
        try rig.hear("sync.uploader", ["head": Value(head(0)), "released": 0])
        try rig.hear(beat("consolidator", head(numbers.upperBound, store: "consolidator")))
        try answerPull()
    }

    /// The consolidator has written days, of which the uploader hasn't heard.
    func write(_ numbers: ClosedRange<Int64>) { days = Set(days + Array(numbers)).sorted() }

    /// The consolidator has nothing any more, and whoever asks it isn't answered by the rig.
    func lose() { (days, heard) = ([], []) }

    /// Answers a pull of documents, if there is one.
    func answerPull() throws {
        guard let pull = rig.pulls.first(where: { heard.contains($0.producer) && !isOfProof($0) }) else { return }
        try answer(pull)
    }

    private func answer(_ pull: Pull) throws {
        guard pull.name == "changes" else {
            // The observer has no samples.
            let page = Value(SamplesPage(samples: SamplePage(), users: [], user: []))
            let place: Value = ["through": 0, "head": Value(head(0))]
            return try rig.answer(pull, .pages([.object((page.object ?? [:]).merging(place.object ?? [:]) { $1 })]))
        }
        let after = pull.query["after"]?["base"].int ?? pull.query["after"]?.int ?? 0
        let rows = (pull.producer == "consolidator" ? days : []).map { (day: $0, sequence: sequence(of: $0)) }
            .sorted { $0.sequence < $1.sequence }
        let last = rows.last?.sequence ?? 0
        try rig.answer(
            pull,
            .pages([
                [
                    "rows": .array(
                        rows.filter { $0.sequence > after }.map { Self.row($0.day, sequence: $0.sequence).wireValue }),
                    "through": .integer(last), "head": Value(head(last, store: pull.producer)),
                ]
            ]))
    }

    private func sequence(of day: Int64) -> Int64 { renewed[day] ?? day }

    /// Gives out the new versions that are asked for; returns false when none are.
    func answerRenewal() throws -> Bool {
        guard let (pull, renewal) = renewals.first else { return false }
        let asked = Set(renewal.windows.flatMap { Array($0.after.value + 1...$0.through.value) })
        var last = renewal.above.value
        for day in days where asked.contains(sequence(of: day)) {
            last += 1
            renewed[day] = last
        }
        try rig.answer(pull, .pages([]))
        try rig.hear(beat("consolidator", head(last, store: "consolidator")))
        return true
    }

    // MARK: The comparison element by element

    /// It reads whole changelogs.
    private func isOfProof(_ pull: Pull) -> Bool { pull.question.place.until?.base == .end }

    /// Answers what it asks, as far as it has got; returns false when it asks nothing.
    func answerProof() throws -> Bool {
        if let (effect, question) = held.first {
            try rig.reply(effect, backend.versions(question))
        } else if let pull = rig.pulls.first(where: { isOfProof($0) && $0.name != "renew" }) {
            try answer(pull)
        } else {
            return false
        }
        return true
    }

    // MARK: Requests

    var uploads: [Effect] { rig.effects.filter { $0.request is DeliveryRequest } }
    var questions: [Effect] { rig.effects.filter { $0.request is HoldingsRequest } }

    /// What the comparison element by element asks.
    var held: [(effect: Effect, question: HeldQuestion)] {
        rig.effects.compactMap { effect in (effect.request as? HeldQuestion).map { (effect, $0) } }
    }
    var renewals: [(pull: Pull, renewal: Renewal)] {
        rig.pulls.compactMap { pull in
            (pull.question.query as? Renewal).map { (pull, $0) }
        }
    }

    func request() throws -> (effect: Effect, request: DeliveryRequest) {
        let effect = try #require(uploads.first)
        return (effect, try #require(effect.request as? DeliveryRequest))
    }

    func dates(_ request: DeliveryRequest) throws -> [String] {
        (try Value(json: request.body)["days"].array ?? []).compactMap { $0["date"].string }
    }

    func reply(_ status: Int, _ body: String = "", type: String? = nil, retryAfter: String? = nil) throws {
        try rig.reply(
            request().effect,
            UploadReply.answered(status: status, retryAfter: retryAfter, contentType: type, body: Array(body.utf8)))
    }

    func accept() throws {
        let (effect, request) = try request()
        try rig.reply(effect, try backend.take(request))
    }

    func answerQuestion(_ reply: UploadReply? = nil) throws {
        try rig.reply(try #require(questions.first), reply ?? backend.holdings)
        while try answerProof() {}
    }

    /// Answers up to `limit` requests, like a backend that refuses some days.
    /// - Parameter answer: nil means that the backend accepts the request.
    func serve(_ limit: Int = 200, _ answer: ([String]) -> UploadReply? = { _ in nil }) throws {
        for _ in 0..<limit {
            if let question = questions.first {
                try rig.reply(question, backend.holdings)
            } else if try answerProof() {
                continue
            } else if !uploads.isEmpty {
                let (effect, request) = try request()
                try rig.reply(effect, try answer(try dates(request)) ?? backend.take(request))
            } else if rig.pulls.contains(where: { heard.contains($0.producer) && $0.name == "changes" }) {
                try answerPull()
            } else {
                return
            }
        }
    }

    // MARK: How it stands

    func frontier() throws -> SequenceNumber? { try rig.report().frontier["consolidator"] }
    func detail(_ name: String) throws -> Value { try rig.report().details[name] ?? .null }
    func known(_ name: String) throws -> Value { try detail("backend")[name] }
    func letters() throws -> [String] {
        try DeadLetter.page(in: rig.store.database, RepairSelection(), limit: 1000).map(\.id)
    }
    /// Subjects of the raised alerts.
    func alerts() throws -> Set<String> {
        var raised: Set<String> = []
        try rig.turn { raised = Set(try $0.alerts(.degraded).map(\.subject)) }
        return raised
    }
    var delivered: Int { backend.alive("days").count }
}

extension StageRig {
    /// The backend gives this answer; the stage gets the runner's judgement of it.
    func reply(_ effect: Effect, _ reply: UploadReply) throws {
        try self.reply(effect, reply.result(of: effect).value)
    }
}
