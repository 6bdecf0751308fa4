import DeliveryKit
import HealthModel
import MessageBus
import Protocol
import Simulation
import TestSupport
import Testing
import UploaderStage

/// What was delivered is compared, element by element, with what the backend keeps; `LineTests` does so with whole stacks.
@Suite struct ProofTests {
    private static let day = Duration.seconds(25 * 3600)

    private func proof(_ uploader: UploaderRig) throws -> ProofSummary? {
        try uploader.detail("proof").read(ProofSummary.self)
    }

    private func key(_ number: Int64) -> FakeBackend.Key {
        FakeBackend.Key(user: "me", kind: "days", id: UploaderRig.date(number))
    }

    /// Three days are delivered and compared.
    private func settled() throws -> UploaderRig {
        let uploader = try UploaderRig()
        try uploader.add(1...3)
        try uploader.serve()
        let found = try #require(try proof(uploader))
        #expect(found.compared == 3 && found.wrong == 0 && found.unable == nil)
        #expect(try uploader.known("isCompared") == true)
        return uploader
    }

    private func nextDay(_ uploader: UploaderRig) throws {
        try uploader.rig.pass(Self.day)
        try uploader.serve()
    }

    @Test func whatIsMissingOrOlderIsDeliveredAgain() throws {
        let uploader = try settled()
        uploader.backend.overwrite(key(1), nil)
        uploader.backend.overwrite(key(2), .init(version: 1, content: ["date": "2025-03-12", "steps": 1]))
        try nextDay(uploader)
        #expect(uploader.delivered == 3 && uploader.backend.entries[key(2)]?.version == 2)
        #expect(try proof(uploader)?.wrong == 0 && uploader.alerts() == [])
    }

    @Test func aSettledLineDoesntOutbidAnother() throws {
        let uploader = try settled()
        let other = FakeBackend.Entry(version: 900, content: ["date": "2025-03-12", "steps": 7])
        uploader.backend.overwrite(key(2), other)
        try nextDay(uploader)
        #expect(uploader.renewals.isEmpty && uploader.backend.entries[key(2)] == other)
        #expect(try proof(uploader)?.wrong == 1 && uploader.alerts() == ["proof"])
        // It is said as long as it is so.
        try uploader.rig.restart()
        try uploader.add(1...3)
        try nextDay(uploader)
        #expect(try uploader.renewals.isEmpty && uploader.alerts() == ["proof"])
        // A person decides.
        var request = RepairRequest(id: "verify-1", action: "verify")
        request.dryRun = false
        try uploader.rig.turn { _ = try uploader.rig.stage.repair(request, $0) }
        try uploader.serve()
        let asked = try #require(uploader.renewals.first)
        #expect(asked.pull.producer == "consolidator" && asked.renewal.above >= 900)
        #expect(asked.renewal.windows.contains { $0.after < 2 && $0.through >= 2 })
    }

    @Test func aNewLineIsRaisedAboveWhatIsThere() throws {
        let uploader = try UploaderRig()
        uploader.backend.overwrite(key(2), .init(version: 900, content: ["date": "2025-03-12", "steps": 7]))
        uploader.backend.overwrite(key(3), .init(version: 901, content: ["date": "2025-03-13", "steps": 3]))
        try uploader.add(1...3)
        try uploader.serve()
        let asked = try #require(uploader.renewals.first)
        #expect(asked.renewal.above >= 901)
        // Delivery isn't over until it has been done.
        #expect(try uploader.known("isCompared") == false)
        let alerts = try uploader.alerts()
        #expect(alerts == [], "\(alerts)")
    }

    @Test func whatIsntDeliveredYetIsRaisedToo() throws {
        let uploader = try UploaderRig()
        uploader.backend.overwrite(key(4), .init(version: 900, content: ["date": "2025-03-14", "steps": 7]))
        uploader.backend.overwrite(key(5), .init(version: 5, content: ["date": "2025-03-15", "steps": 7]))
        uploader.backend.overwrite(key(6), .init(version: 3, content: ["date": "2025-03-16", "steps": 7]))
        try uploader.add(1...3)
        uploader.write(4...6)
        try uploader.serve()
        // The sixth will have a higher version than what is there.
        let windows = try #require(uploader.renewals.first).renewal.windows
        let raised = (1...6).filter { day in windows.contains { $0.after.value < day && $0.through.value >= day } }
        #expect(raised == [4, 5])
    }

    @Test func aRestoredStoreWithoutAnythingIsRaisedToo() throws {
        let uploader = try settled()
        var restored = head(1, store: "consolidator", generation: "two")
        restored.gap = .init(after: 0, first: 1)
        try uploader.rig.hear(beat("consolidator", restored))
        try uploader.rig.answer(
            try #require(uploader.rig.pulls.first { $0.producer == "consolidator" }), .reset(restored))
        try uploader.rig.hear(beat("consolidator", restored))
        uploader.lose()
        // Nothing is compared before everything is read.
        for _ in 0..<20 where uploader.renewals.isEmpty {
            try uploader.serve()
            for pull in uploader.rig.pulls where pull.producer == "consolidator" && pull.name != "renew" {
                try uploader.rig.answer(
                    pull, .pages([["rows": [], "through": 1, "head": Value(restored)]]))
            }
        }
        #expect(try #require(uploader.renewals.first).renewal.above >= 3)
    }

    @Test func aDeletionThereIsntUndoneWhileTheStoreIsNew() throws {
        let uploader = try UploaderRig()
        uploader.backend.overwrite(key(2), .init(version: 900, content: nil))
        try uploader.add(1...3)
        try uploader.serve()
        // The store is raised, so that what comes later is heard; the day itself stays deleted there.
        #expect(uploader.renewals.allSatisfy { $0.renewal.above >= 900 })
        #expect(uploader.backend.entries[key(2)]?.content == nil)
    }

    @Test func anAnswerThatKnowsWhatWasNeverSentIsLookedInto() throws {
        let uploader = try settled()
        uploader.backend.overwrite(key(4), .init(version: 900, content: ["date": "2025-03-14", "steps": 7]))
        try uploader.rig.pass(.seconds(3600))
        try uploader.add(4...4)
        try uploader.serve()
        try uploader.rig.pass(.seconds(700))
        try uploader.serve()
        #expect(try proof(uploader)?.wrong == 1 && uploader.alerts() == ["proof"])
    }

    @Test func whoCantSayWhatItKeepsGetsGrowingVersionsWhileItKnowsThem() throws {
        let uploader = try UploaderRig()
        for number in 1...3 as ClosedRange<Int64> {
            uploader.backend.overwrite(
                key(number), .init(version: 1_800_000_000_000, content: ["date": .string(UploaderRig.date(number))]))
        }
        try uploader.add(1...3)
        var above: [Int64] = []
        for _ in 0..<60 {
            if let (effect, _) = uploader.held.first {
                try uploader.rig.reply(effect, UploadReply.answered(status: 404, body: []))
            } else if let (pull, renewal) = uploader.renewals.first {
                above.append(renewal.above.value)
                uploader.rig.pulls.removeAll { $0.id == pull.id }
                if above.count == 2 { break }
                // It was done, and is delivered; the backend still knows it.
                try uploader.rig.hear(beat("consolidator", head(renewal.above.value + 3, store: "consolidator")))
            } else {
                try uploader.serve(1)
                try uploader.rig.pass(.seconds(10))
            }
        }
        let reported = try uploader.detail("proof").json()
        #expect(above.count >= 1 && above == above.sorted(), "\(above) \(reported)")
        #expect(try proof(uploader)?.unable != nil)
    }

    @Test func aProofIsDailyWhateverTheClockSays() throws {
        let uploader = try settled()
        let first = try #require(try proof(uploader)).at
        try uploader.rig.pass(.seconds(3600))
        try uploader.serve()
        #expect(try proof(uploader)?.at == first)
        // A clock that was set back years doesn't put it off for years.
        uploader.rig.now = uploader.rig.now - .seconds(100_000_000)
        try uploader.rig.pass(.seconds(60))
        try uploader.serve()
        #expect(try proof(uploader)?.at != first)
    }

    @Test func aBackendThatGoesOnForeverIsNoProof() throws {
        let uploader = try UploaderRig()
        try uploader.add(1...3)
        let page = HeldPage(rows: [], next: "again", generation: "generation-1")
        for _ in 0..<20 {
            if let (effect, _) = uploader.held.first {
                try uploader.rig.reply(effect, HeldReply.page(page))
            } else {
                try uploader.serve(1)
            }
        }
        #expect(try proof(uploader) == nil && uploader.known("isCompared") == false)
        #expect(try uploader.known("why").string?.contains("end") == true)
    }
}
