import DeliveryKit
import HealthModel
import Protocol
import Simulation
import StageKit
import TestSupport
import Testing
import UploaderStage

/// A comparison claims no more than it looked at, and goes on until all is repaired.
@Suite struct ProofCoverageTests {
    private static let day = Duration.seconds(25 * 3600)

    private func proof(_ uploader: UploaderRig) throws -> ProofSummary? {
        try uploader.detail("proof").read(ProofSummary.self)
    }

    private func key(_ number: Int64) -> FakeBackend.Key {
        FakeBackend.Key(user: "me", kind: "days", id: UploaderRig.date(number))
    }

    private func verify(_ uploader: UploaderRig, repairs: Bool = false) throws -> Value {
        var request = RepairRequest(id: "verify-\(uploader.rig.now.microseconds)", action: "verify")
        request.dryRun = !repairs
        var repaired: RepairOutcome?
        try uploader.rig.turn { repaired = try uploader.rig.stage.repair(request, $0) }
        for _ in 0..<40 {
            try uploader.serve()
            while try uploader.answerRenewal() { try uploader.serve() }
            try uploader.rig.turn { repaired = try uploader.rig.stage.repaired(request, $0) }
            if case .done(let said) = repaired { return said }
            try uploader.rig.pass(.seconds(2))
        }
        Issue.record("\(String(describing: repaired))")
        return .null
    }

    @Test func aListWhoseProducerIsntHeardIsntCompared() throws {
        let uploader = try UploaderRig(lives: [DeliverySettings()], handlers: ["sleep", "workouts"])
        try uploader.add(1...3)
        uploader.heard.insert("workouts")
        try uploader.rig.hear(beat("workouts", head(0, store: "workouts")))
        try uploader.serve()
        try uploader.rig.pass(.seconds(31))
        try uploader.serve()
        #expect(try proof(uploader) == nil, "only a part was compared")
        let said = try verify(uploader)
        #expect(said["uncompared"] == ["nights": ["sleep"], "workouts": ["sleep"]] && said["wrong"] == 0)
        #expect(try proof(uploader) == nil)
        // What is missing in the other lists is repaired meanwhile, and not again and again.
        uploader.backend.overwrite(key(1), nil)
        try uploader.rig.pass(.seconds(601))
        try uploader.serve()
        try uploader.rig.pass(.seconds(2))
        try uploader.serve()
        #expect(uploader.delivered == 3)
        try uploader.rig.pass(.seconds(2))
        #expect(uploader.held.isEmpty)
        // Once it is heard, everything is compared at once.
        uploader.heard.insert("sleep")
        try uploader.rig.hear(beat("sleep", head(0, store: "sleep")))
        try uploader.serve()
        #expect(try proof(uploader)?.compared == 3)
        #expect(try verify(uploader)["uncompared"] == [:])
    }

    @Test func whatAnAlertSaysIsLookedForAgain() throws {
        let uploader = try UploaderRig()
        try uploader.add(1...3)
        try uploader.serve()
        let content: Value = [
            "type": "HKQuantityTypeIdentifierStepCount", "startDate": "2025-03-30T08:15:00Z",
            "endDate": "2025-03-30T08:16:00Z", "value": 7, "source": "Watch",
        ]
        let copies = (1...2).map {
            FakeBackend.Key(user: "me", kind: "samples", id: "0195e61b-1f40-8123-9456-00000000000\($0)")
        }
        for copy in copies { uploader.backend.overwrite(copy, .init(version: 5, content: content)) }
        try uploader.rig.pass(Self.day)
        try uploader.serve()
        #expect(try uploader.alerts() == [], "nobody asked for copies")
        #expect(try verify(uploader)["wrong"] == 1 && uploader.alerts() == ["proof"])
        try uploader.rig.pass(Self.day)
        try uploader.serve()
        #expect(try proof(uploader)?.wrong == 1 && uploader.alerts() == ["proof"])
        uploader.backend.overwrite(copies[0], nil)
        try uploader.rig.pass(Self.day)
        try uploader.serve()
        #expect(try proof(uploader)?.wrong == 0 && uploader.alerts() == [])
    }

    /// One request for new versions names 5000 parts of a changelog.
    @Test func aRepairGoesOnUntilAllIsDone() throws {
        let uploader = try UploaderRig()
        try uploader.add(1...10_002)
        try uploader.serve()
        for number in stride(from: 1, to: 10_003, by: 2) as StrideTo<Int64> {
            guard let entry = uploader.backend.entries[key(number)] else { continue }
            uploader.backend.overwrite(key(number), .init(version: entry.version, content: ["date": "other"]))
        }
        let said = try verify(uploader, repairs: true)
        #expect(said["repaired"] == 5001 && said["wrong"] == 0)
    }

    @Test func aDestinationThatOnceSaidWhatItKeepsIsAskedAgainSoon() throws {
        let uploader = try UploaderRig()
        try uploader.add(1...3)
        try uploader.serve()
        let first = try #require(try proof(uploader))
        uploader.backend.overwrite(key(1), nil)
        try uploader.rig.pass(Self.day)
        let page = UploadReply.answered(status: 404, body: Array("<html>".utf8))
        for _ in 0..<2 {
            for _ in 0..<20 where uploader.held.isEmpty { try uploader.serve(1) }
            try uploader.rig.reply(try #require(uploader.held.first).effect, page)
            #expect(try proof(uploader) == first)
            try uploader.rig.pass(.seconds(3))
        }
        try uploader.serve()
        #expect(try proof(uploader)?.unable == nil && uploader.delivered == 3)
        // One that goes on like this can't say any more.
        try uploader.rig.pass(Self.day)
        for _ in 0..<300 {
            for _ in 0..<20 where uploader.held.isEmpty { try uploader.serve(1) }
            if let (effect, _) = uploader.held.first { try uploader.rig.reply(effect, page) }
            try uploader.rig.pass(.seconds(60))
        }
        #expect(try proof(uploader)?.unable != nil)
    }

    @Test func samplesFromBefore1970AreInAnyRangeBefore() {
        func day(_ number: Int64) -> Instant { Instant(seconds: number * 86_400) }
        let old = SampleID(high: 0x8123, low: 1 << 63)
        let later = SampleID(high: UInt64(2 * 86_400_000) << 16 | 0x8123, low: 1 << 63)
        #expect(IDRange(day(-3650)..<day(-3285)).holds(old) && IDRange(day(0)..<day(1)).holds(old))
        #expect(!IDRange(day(-3650)..<day(-3285)).holds(later) && !IDRange(day(2)..<day(3)).holds(old))
        #expect(IDRange(day(2)..<day(3)).holds(later) && !IDRange(day(-1)..<day(-1)).holds(old))
    }
}
