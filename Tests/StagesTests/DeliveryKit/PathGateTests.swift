import BackgroundDelivery
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

/// Tests which deliveries wait for a network path.
@Suite struct PathGateTests {
    /// A stage on a machine that has no network path, or whose kernel reports `news`.
    private func rig(
        needsPath: Bool, _ news: PathNews = .path(.init(isSatisfied: false, interface: nil))
    ) throws -> StageRig<DeliveryStage> {
        let rig = try StageRig {
            DeliveryStage(
                observer: "observer", handlers: [], consolidator: "consolidator",
                policy: RetryPolicy(base: 600, cap: 600), generator: SeededRandom(seed: 5), instance: "uploader",
                needsPath: needsPath, family: { _ in .other })
        }
        try rig.reply(try #require(rig.effects.first { $0.request is WatchPath }), news)
        try rig.hear(beat("consolidator", head(2, store: "consolidator")))
        return rig
    }

    /// Hands the stage a day for delivery; returns whether it is being sent.
    private func sends(_ rig: StageRig<DeliveryStage>) throws -> Bool {
        let row = KeyedChangelog.Row(
            sequence: 2, key: "day/me/2025-03-11", topic: "daily.summary", user: "me", day: 1,
            body: ["date": "2025-03-11"])
        let newest = Value(head(2, store: "consolidator"))
        try rig.answer(
            try #require(rig.pulls.first), .pages([["rows": [row.wireValue], "through": 2, "head": newest]]))
        return rig.effects.contains { $0.request is DeliveryRequest }
    }

    private func device(_ path: NetworkPath, _ rig: StageRig<DeliveryStage>) throws {
        var device = DeviceState()
        device.network = path
        try rig.hear(beat("observer", head(1), details: ["device": Value(device)]))
    }

    @Test func aBackendOnThisMachineWaitsForNothing() throws {
        #expect(try sends(try rig(needsPath: true)) == false)
        #expect(try sends(try rig(needsPath: false)))
    }

    @Test func aPhoneWithoutANetworkDeliversNowhere() throws {
        let rig = try rig(needsPath: false)
        try device(NetworkPath(isSatisfied: false, interface: nil), rig)
        #expect(try sends(rig) == false)
        try device(NetworkPath(isSatisfied: true, interface: .cellular), rig)
        #expect(rig.effects.contains { $0.request is DeliveryRequest })
    }

    @Test func aWayThatComesBackIsTriedAtOnce() throws {
        let rig = try rig(needsPath: false)
        #expect(try sends(rig))
        let lost = HTTPError(.connection, endpoint: "b", detail: "no answer", hint: "wait")
        let upload = try #require(rig.effects.first { $0.request is DeliveryRequest })
        try rig.reply(upload, UploadReply.failed(lost))
        try rig.pass(.seconds(1))
        #expect(!rig.effects.contains { $0.request is DeliveryRequest }, "it waits for minutes")
        try device(NetworkPath(isSatisfied: false, interface: nil), rig)
        #expect(!rig.effects.contains { $0.request is DeliveryRequest })
        try device(NetworkPath(isSatisfied: true, interface: .wifi), rig)
        #expect(rig.effects.contains { $0.request is DeliveryRequest })
    }

    /// Until then, nobody can say whether the backend can be reached.
    @Test func aBackendIsComparedAsSoonAsThereIsAWay() throws {
        let rig = try rig(needsPath: false)
        func compare() throws {
            let question = try #require(rig.effects.first { $0.request is HoldingsRequest })
            try rig.reply(question, FakeBackend().holdings)
        }
        func why() throws -> String? { try rig.report().details["backend"]?["why"].string }
        try compare()
        #expect(try why() == nil)
        try device(NetworkPath(isSatisfied: false, interface: nil), rig)
        #expect(try why() == "there is no network path; delivery continues when there is one")
        #expect(!rig.effects.contains { $0.request is HoldingsRequest })
        try device(NetworkPath(isSatisfied: true, interface: .wifi), rig)
        try compare()
        #expect(try why() == nil)
    }

    /// Where netlink is forbidden, no delivery waits for a report from it.
    @Test func whatIsUnknownHoldsNothingBack() throws {
        let rig = try rig(needsPath: true, .unknown("not permitted"))
        #expect(try sends(rig))
        #expect(rig.log.fields(of: .pathUnknown) == [["why": "not permitted"]])
    }
}
