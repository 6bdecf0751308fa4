import BackgroundDelivery
import Changelog
import Configuration
import HealthImport
import HealthModel
import ObserverReading
import ObserverStage
import Protocol
import SQLite
import StageKit
import TestSupport
import Testing

/// The observer's side of background delivery, with a database file, turn by turn.
@Suite struct ObserverDeliveryTests {
    static let steps = "HKQuantityTypeIdentifierStepCount"
    static let heart = "HKQuantityTypeIdentifierHeartRate"
    let second = Duration.seconds(1)

    func rig(
        _ configuration: Value = [:], readers: [String]? = nil, plugins: [String]? = nil,
        refusal: @escaping (String) -> String? = { _ in nil }
    ) throws -> StageRig<ObserverStage> {
        let manifest = try Checkout.manifest("observer")
        let resolved = try SchemaCheck(file: manifest.file)
            .resolve(["delivery": configuration], schema: manifest.configuration)
        return try StageRig {
            ObserverStage(
                instance: "observer", zone: "UTC", defaultUser: "me",
                delivery: SystemLimits(configuration: resolved["delivery"]), readers: readers, plugins: plugins,
                app: "debouncer", refusal: refusal)
        }
    }

    func command(_ rig: StageRig<ObserverStage>, _ body: Value) throws {
        try rig.hear("control.observer", body)
    }

    func register(_ rig: StageRig<ObserverStage>, launch: Int64 = 1, _ types: Value = ["*": "immediate"]) throws {
        try command(
            rig, ["command": "register", "consumer": "debouncer", "launch": .integer(launch), "types": types])
    }

    func device(_ rig: StageRig<ObserverStage>, _ set: Value) throws {
        try command(rig, ["command": "device", "set": set])
    }

    /// Imports samples as if from a file; returns the types that fired.
    @discardableResult
    func bring(_ rig: StageRig<ObserverStage>, user: String = "me", _ records: Record...) throws -> [String] {
        let id = "00000000-\(rig.identifierOfNextImport)"
        try command(rig, ["command": "import", "id": .string(id), "path": "/tmp/x", "user": .string(user)])
        for case let effect in rig.effects {
            guard case .adopt(id, _, _) = effect.request as? ObserverEffect else { continue }
            try rig.reply(effect, FileStep.adopted(id: id))
        }
        let read = try #require(
            rig.effects.last {
                if case .read(id, _, _) = $0.request as? ObserverEffect { true } else { false }
            })
        rig.sent = []
        try rig.reply(read, ImportEvent.found(.records(Record.batch(records))))
        let fired = self.fired(rig)
        try rig.reply(read, ImportEvent.finished(ReadSummary()))
        return fired
    }

    func fired(_ rig: StageRig<ObserverStage>) -> [String] {
        rig.sent.filter { $0.topic.hasPrefix("observed.") }.compactMap { $0.body["type"].string }
    }

    func record(_ type: String, _ value: Double, after: Duration = .zero) -> Record {
        Record(
            type: type, start: Instant(seconds: 1_743_000_000) + after, value: value,
            unit: type == Self.heart ? "count/min" : "count")
    }

    @Test func onTheScreenAChangeIsOneCommitAndNothingMoreIsSaid() throws {
        let rig = try rig()
        try register(rig)
        #expect(try rig.report().details["registered"] == ["debouncer": 1])
        #expect(try bring(rig, record(Self.steps, 10)) == [Self.steps])
        let details = try rig.report().details
        for member in ["device", "fired", "off", "refused", "stopped"] { #expect(details[member] == nil) }
        #expect(rig.log.fields(of: .registrationRenewed) == [["consumer": "debouncer", "launch": "1"]])
        #expect(rig.log.fields(of: .observerFired) == [["type": Self.steps, "locked": "false"]])
        // It says where to look, and carries no sample.
        let fire: [Set<String>] = [["head", "type", "sequence"]]
        #expect(rig.sent.map { Set(($0.body.object ?? [:]).keys) } == fire)
        #expect(rig.sent.map(\.topic) == ["observed.\(Self.steps)"])
    }

    @Test func withoutTheEntitlementRegistrationIsRefusedWithTheLineToAdd() throws {
        var manifest = try Checkout.manifest("debouncer")
        #expect(manifest.registrationRefusal == nil)
        manifest.rights.entitlements = [.health]
        let why = try #require(manifest.registrationRefusal)
        #expect(why.code == .authorizationDenied)
        #expect(
            why.remedy.contains(#"add "background-delivery" to "entitlements""#) && why.remedy.contains(manifest.file))
        let rig = try rig(refusal: { _ in why.description })
        for _ in 0..<3 { try register(rig) }
        let details = try rig.report().details
        #expect(details["registered"] == nil && details["refused"] == ["debouncer": .string(why.description)])
        #expect(rig.log.fields(of: .registrationRefused).count == 1)
        // While the app is on screen, delivery continues; in the background nothing fires.
        #expect(try bring(rig, record(Self.steps, 1)) == [Self.steps])
        try device(rig, ["app": "background"])
        #expect(try bring(rig, record(Self.steps, 2, after: second * 90)) == [])
        #expect(rig.log.fields(of: .observerUnheard).contains(["type": Self.steps]))
    }

    @Test func anUnknownFrequencyIsRefused() throws {
        let rig = try rig()
        try register(rig, ["*": "often"])
        #expect(try rig.report().details["refused"]?["debouncer"].string?.contains("immediate, hourly") == true)
    }

    @Test func aFrequencySetByHandHoldsUntilItIsTheAppsAgain() throws {
        let rig = try rig()
        try register(rig)
        func set(_ frequency: Value) throws {
            try command(rig, ["command": "types", "set": [Self.heart: ["frequency": frequency]]])
        }
        try set("daily")
        try device(rig, ["app": "background"])
        func acknowledge() throws {
            try rig.hear("acknowledged.observer", ["consumer": "debouncer", "types": [Self.heart: .integer(.max)]])
        }
        func change(_ number: Int) throws -> [String] {
            let fired = try bring(rig, record(Self.heart, 60, after: 90 * second * number))
            try acknowledge()
            return fired
        }
        #expect(try change(1) == [Self.heart] && change(2) == [])
        try rig.restart()
        try rig.pass(23 * 3600 * second)
        #expect(fired(rig) == [])
        try rig.pass(3600 * second)
        #expect(fired(rig) == [Self.heart])
        #expect(try change(3) == [])
        try set("default")
        #expect(fired(rig) == [Self.heart])
        try acknowledge()
        #expect(try change(4) == [Self.heart])
    }

    @Test func aCorrelationIsRefused() throws {
        let rig = try rig()
        try register(rig, [HealthType.bloodPressureIdentifier: "hourly"])
        #expect(try rig.report().details["refused"]?["debouncer"].string?.contains("types of its parts") == true)
    }

    @Test func inTheBackgroundTheHeartbeatSaysHowFarEachTypeIsFired() throws {
        let rig = try rig(["floors": [Self.steps: "hourly"]])
        try register(rig)
        try device(rig, ["app": "background"])
        #expect(try rig.report().details["device"]?["app"] == "background")
        #expect(try bring(rig, record(Self.steps, 1), record(Self.heart, 60)) == [Self.heart, Self.steps])
        #expect(try rig.report().details["fired"] == nil)
        let before = rig.store.sequence
        #expect(try bring(rig, record(Self.steps, 2, after: 90 * second)) == [])
        let reported = try #require(try rig.report().details["fired"]?.read(AnchorVector.self))
        #expect(reported[Self.steps] == before && reported[Self.heart] == rig.store.sequence)
        // A crash changes nothing: what couldn't be fired yet still can't.
        try rig.restart()
        let again = try rig.report().details["fired"]?.read(AnchorVector.self)
        #expect(again == reported)
        #expect(try rig.report().details["registered"] == ["debouncer": 1])
        try rig.pass(3600 * second)
        #expect(fired(rig) == [Self.steps])
        #expect(try rig.report().details["fired"] == nil)
    }

    /// After an hour, or what is set.
    @Test(arguments: [([:], 3600), (["unlockReminderSeconds": 60], 60)] as [(Value, Int64)])
    func whileLockedReadsAnswerInaccessibleAndFiresWait(_ options: Value, _ seconds: Int64) throws {
        let rig = try rig(options)
        try register(rig)
        try bring(rig, record(Self.steps, 1))
        try device(rig, ["locked": true])
        #expect(try bring(rig, record(Self.steps, 2, after: 90 * second)) == [])
        let source = try ObserverSource(database: rig.store.database)
        for query in ["samples", "spans", "slice"] {
            #expect(throws: DeliveryError.self) {
                try source.answer(request(query), head: rig.store.head) { _, _ in }
            }
        }
        // Zones aren't health data, and a person's own tool may read the store even while the device is locked.
        #expect(throws: Never.self) {
            try source.answer(request("zones"), head: rig.store.head) { _, _ in }
            try source.answer(request("samples", consumer: "client-1-2"), head: rig.store.head) { _, _ in }
        }
        try rig.pass(.seconds(seconds - 1))
        #expect(try rig.rows()["alert/unlock-reminder/"]?.body == nil)
        try rig.pass(second)
        #expect(try rig.rows()["alert/unlock-reminder/"]?.body != nil)
        rig.sent = []
        try device(rig, ["locked": false])
        let reminder = try #require(try rig.rows()["alert/unlock-reminder/"])
        #expect(reminder.body == nil)
        #expect(fired(rig) == [Self.steps])
        #expect(throws: Never.self) { try source.answer(request("samples"), head: rig.store.head) { _, _ in } }
    }

    func request(_ query: String, consumer: String = "steps") -> Value {
        [
            "query": .string(query), "consumer": .string(consumer), "types": ["exclude": []], "after": 0,
            "until": .integer(.max), "user": "me", "from": 0, "to": .integer(4_000_000_000_000_000),
            "asOf": .integer(.max),
        ]
    }

    func values(_ rig: StageRig<ObserverStage>, _ request: Value) throws -> [Double] {
        let source = try ObserverSource(database: rig.store.database)
        var values: [Double] = []
        var failure: (any Error)?
        try source.answer(request, head: rig.store.head) { members, _ in
            do { values += try SamplePage(wireValue: members["samples"] ?? .null).value } catch { failure = error }
        }
        if let failure { throw failure }
        return values
    }

    @Test func aDeniedTypeLooksAsIfThereWereNothingOfIt() throws {
        let rig = try rig()
        try register(rig)
        try bring(rig, record(Self.steps, 1), record(Self.heart, 60))
        let stood = rig.store.sequence
        try command(rig, ["command": "types", "set": [Self.steps: ["denied": true]]])
        #expect(try bring(rig, record(Self.steps, 2, after: 90 * second)) == [])
        #expect(try values(rig, request("samples")) == [60] && values(rig, request("slice")) == [60])
        let details = try rig.report().details
        #expect(details["off"] == [.string(Self.steps)])
        #expect(details["fired"]?.read(AnchorVector.self)?[Self.steps] == stood)
        rig.sent = []
        try command(rig, ["command": "types", "set": [Self.steps: ["denied": false]]])
        #expect(fired(rig) == [Self.steps])
        #expect(try values(rig, request("samples")).sorted() == [1, 2, 60])
        #expect(try rig.report().details["off"] == nil)
    }

    @Test func aPredicateFiltersWhatIsReadAndAnUnknownOneIsRefused() throws {
        let rig = try rig()
        let late = 7200 * second
        try bring(
            rig, record(Self.steps, 1), record(Self.heart, 60),
            Record(source: "iPhone", start: Instant(seconds: 1_743_000_000) + late, value: 5))
        let start = Instant(seconds: 1_743_000_000)
        for query in ["samples", "slice"] {
            func found(_ predicate: Value) throws -> [Double] {
                guard case .object(var members) = request(query) else { return [] }
                members["predicate"] = predicate
                return try values(rig, .object(members)).sorted()
            }
            #expect(try found(["sources": ["iPhone"]]) == [5])
            #expect(try found(["from": .integer((start + late).microseconds)]) == [5])
            #expect(try found(["to": .integer((start + late).microseconds)]) == [1, 60])
            #expect(try found(["enteredByHand": true]) == [])
            #expect(try found(["enteredByHand": false]) == [1, 5, 60])
            #expect(try found(["activities": ["running"]]) == [])
            #expect(throws: PullRefusal.self) { try found(["colour": "red"]) }
            #expect(throws: PullRefusal.self) { try found(["sources": "iPhone"]) }
        }
    }

    @Test func silenceOfTheConsumerStopsDeliveryUntilTheAppIsOpened() throws {
        let rig = try rig(["strikesUntilStopped": 3, "acknowledgeWithinSeconds": 1])
        try register(rig)
        try device(rig, ["app": "background"])
        try bring(rig, record(Self.steps, 1))
        for _ in 0..<12 { try rig.pass(second) }
        #expect(try rig.report().details["stopped"] == ["debouncer"])
        #expect(rig.log.fields(of: .deliveryStopped).count == 1)
        #expect(try rig.rows()["alert/delivery-stopped/debouncer"]?.body?["since"].int != nil)
        try rig.restart()
        #expect(try bring(rig, record(Self.steps, 2, after: 90 * second)) == [])
        rig.sent = []
        // A start in the background fires once, and resumes nothing.
        try register(rig, launch: 2)
        #expect(fired(rig) == [Self.steps])
        #expect(try rig.report().details["stopped"] == ["debouncer"])
        #expect(try rig.rows()["alert/delivery-stopped/debouncer"]?.body != nil)
        rig.sent = []
        try device(rig, ["app": "active"])
        #expect(fired(rig) == [Self.steps])
        #expect(try rig.report().details["stopped"] == nil)
        try device(rig, ["app": "background"])
        #expect(try bring(rig, record(Self.steps, 3, after: 180 * second)) == [Self.steps])
        let alert = try #require(try rig.rows()["alert/delivery-stopped/debouncer"])
        #expect(alert.body == nil)
        try rig.hear("acknowledged.observer", ["consumer": "debouncer", "types": [Self.steps: .integer(.max)]])
        #expect(rig.log.fields(of: .observerAcknowledged).count == 1)
        rig.sent = []
        for _ in 0..<12 { try rig.pass(second) }
        #expect(rig.sent.isEmpty)
    }

    @Test func aDeviceStateThatCantBeIsRefusedAndLeavesEverything() throws {
        let rig = try rig()
        try device(rig, ["locked": true, "app": "asleep"])
        #expect(try rig.report().details["device"] == nil)
        #expect(rig.log.fields(of: .deviceRefused).count == 1)
        try device(rig, ["battery": 0.5])
        try rig.restart()
        #expect(try rig.report().details["device"]?["battery"] == 0.5)
    }
}

extension StageRig {
    /// Unique within a test.
    var identifierOfNextImport: String {
        let number = String(effects.last?.id ?? 0)
        return String(repeating: "0", count: max(0, 12 - number.count)) + number
    }
}
