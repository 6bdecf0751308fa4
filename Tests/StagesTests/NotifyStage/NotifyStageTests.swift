import Changelog
import HealthModel
import MessageBus
import NotifyStage
import Protocol
import StageKit
import TestSupport
import Testing

@Suite struct NotifyStageTests {
    private func rig(kinds: Set<String>? = nil, reportsCleared: Bool = false) throws -> StageRig<NotifyStage> {
        try StageRig { NotifyStage(producers: ["observer"], kinds: kinds, reportsCleared: reportsCleared) }
    }

    private func row(_ sequence: Int64, _ kind: String, raised: Bool = true) -> Value {
        KeyedChangelog.Row(
            sequence: SequenceNumber(sequence), key: "alert/\(kind)/", topic: "alert.\(kind)", user: "", day: nil,
            body: raised
                ? ["kind": .string(kind), "subject": "", "text": "Something.", "remedy": "Do this.", "since": 1]
                : nil
        ).wireValue
    }

    private func pages(_ rows: [Value], through sequence: Int64) -> PullAnswer.Result {
        .pages([["rows": .array(rows), "through": .integer(sequence), "head": Value(head(sequence))]])
    }

    private func show(_ rows: [Value], through sequence: Int64, to rig: StageRig<NotifyStage>) throws {
        try rig.hear(beat("observer", head(sequence)))
        try rig.answer(try #require(rig.pulls.first), pages(rows, through: sequence))
    }

    private func next(_ rig: StageRig<NotifyStage>) throws -> Notification {
        try #require(rig.effects.first?.request as? Notification)
    }

    private func end(_ result: NotificationResult, _ rig: StageRig<NotifyStage>) throws {
        try rig.reply(try #require(rig.effects.first), result)
    }

    @Test func reportsEachInOrderAndThenMovesItsAnchor() throws {
        let rig = try rig()
        try show([row(3, "degraded"), row(5, "workout-recorded")], through: 7, to: rig)
        #expect(try next(rig).kind == "degraded" && rig.report().frontier["observer"] == 0)
        try end(.notified, rig)
        #expect(try next(rig).id == "observer/alert/workout-recorded//5")
        try end(.notified, rig)
        #expect(rig.effects.isEmpty)
        #expect(try rig.report().frontier["observer"] == 7 && rig.report().details["told"] == 2)
        try rig.restart()
        try rig.hear(beat("observer", head(7)))
        #expect(rig.pulls.isEmpty && rig.effects.isEmpty)
    }

    @Test func whatWasNotReportedBeforeACrashIsReportedAfterIt() throws {
        let rig = try rig()
        try show([row(3, "degraded")], through: 3, to: rig)
        let first = try next(rig)
        try rig.restart()
        try show([row(3, "degraded")], through: 3, to: rig)
        #expect(try next(rig) == first)
    }

    @Test func triesAgainLaterAndAtLastGoesOn() throws {
        let rig = try rig()
        try show([row(3, "degraded"), row(4, "unlock-reminder")], through: 4, to: rig)
        var tries = 0
        while try next(rig).kind == "degraded", tries < 50 {
            tries += 1
            try end(.failed("it ended with 1"), rig)
            if tries < 8 { #expect(rig.effects.isEmpty, "it waits between two attempts") }
            if rig.effects.isEmpty { try rig.pass(.seconds(300)) }
        }
        #expect(tries == 8)
        #expect(try rig.report().details["givenUp"] == 1)
        try end(.notified, rig)
        #expect(try rig.report().frontier["observer"] == 4)
    }

    @Test func afterAResetTheLastDeliveryIsForgotten() throws {
        let rig = try rig()
        try show([row(2, "degraded")], through: 2, to: rig)
        try end(.notified, rig)
        try show([row(3, "degraded")], through: 3, to: rig)
        func fail() throws { try end(.failed("it ended with 1"), rig) }
        for _ in 1...3 {
            try fail()
            try rig.pass(.seconds(300))
        }
        try fail()
        try rig.turn { _ = try rig.stage.repair(RepairRequest(id: "a", action: "reset"), $0) }
        rig.effects = []
        try rig.hear(beat("observer", head(3)))
        try rig.answer(try #require(rig.pulls.first), .reset(head(3)))
        try show([row(3, "degraded")], through: 3, to: rig)
        // It is sent at once, and tried as often as any other.
        for _ in 1...7 {
            try fail()
            try rig.pass(.seconds(300))
        }
        #expect(try next(rig).kind == "degraded" && rig.report().details["givenUp"] == 0)
    }

    /// An alert that another release raised isn't announced as over.
    @Test func whatCannotBeReadIsNotReported() throws {
        let rig = try rig(reportsCleared: true)
        let strange = KeyedChangelog.Row(
            sequence: 3, key: "alert/degraded/", topic: "alert.degraded", user: "", day: nil, body: ["kind": "degraded"]
        ).wireValue
        try show([strange, row(4, "degraded", raised: false)], through: 4, to: rig)
        #expect(try next(rig).id == "observer/alert/degraded//4")
        #expect(try rig.report().details["givenUp"] == 1)
        #expect(rig.log.fields(of: .notifyGivenUp) == [["kind": "degraded"]])
    }

    @Test func reportsOnlyWhatWasAskedFor() throws {
        let some = try rig(kinds: ["degraded"])
        try show(
            [row(3, "workout-recorded"), row(4, "degraded"), row(5, "degraded", raised: false)], through: 5, to: some)
        #expect(try next(some).kind == "degraded")
        try end(.notified, some)
        #expect(some.effects.isEmpty)
        let all = try rig(reportsCleared: true)
        try show([row(5, "degraded", raised: false)], through: 5, to: all)
        #expect(try !next(all).isRaised && next(all).json.contains(#""state":"cleared""#))
    }
}
