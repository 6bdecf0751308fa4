import DeliveryKit
import HealthModel
import Testing

/// What is said to block delivery, when one failure follows another.
@Suite struct BlockedReasonTests {
    private func rig(days: ClosedRange<Int64>) throws -> UploaderRig {
        let rig = try UploaderRig()
        try rig.answerQuestion()
        try rig.add(days)
        return rig
    }

    /// `sync` gives up while only a person can help.
    @Test func aPauseIsOverOnceWaitingHelps() throws {
        let rig = try rig(days: 1...1)
        for _ in 0..<2 { try rig.reply(401) }
        #expect(try rig.detail("paused") == true)
        try rig.rig.pass(.seconds(30))
        try rig.reply(503)
        #expect(try rig.detail("paused") == false && rig.detail("blocked").string?.contains("503") == true)
    }

    @Test func aPauseIsOverOnceElementsAreAnsweredFor() throws {
        let rig = try rig(days: 1...2)
        for _ in 0..<2 { try rig.reply(401) }
        try rig.rig.pass(.seconds(30))
        try rig.reply(422)
        #expect(try rig.detail("paused") == false && rig.detail("blocked").isNull)
    }

    @Test func aPauseIsNotTheWaitBeforeIt() throws {
        let rig = try rig(days: 1...1)
        try rig.reply(429, retryAfter: "7")
        #expect(try !rig.detail("waitsUntil").isNull)
        try rig.rig.pass(.seconds(7))
        for _ in 0..<2 { try rig.reply(401) }
        #expect(try rig.detail("paused") == true && rig.detail("waitsUntil").isNull)
    }

    /// A backend that was down, and then refuses what it gets, isn't said to be down.
    @Test(arguments: ["", #"{"error":"one is odd","refused":[{"id":"2025-03-11"}]}"#])
    func aRefusalReplacesTheReasonBeforeIt(_ body: String) throws {
        let rig = try rig(days: 1...2)
        try rig.reply(503)
        #expect(try rig.detail("blocked").string?.contains("503") == true)
        try rig.rig.pass(.seconds(8))
        try rig.reply(400, body)
        #expect(try rig.detail("blocked").isNull && !rig.uploads.isEmpty)
    }

    /// The refused request was sent before the backend failed.
    @Test func aRefusalEndsNoWait() throws {
        let rig = try rig(days: 1...1)
        try rig.add(2...3)
        #expect(rig.uploads.count == 2)
        try rig.reply(503)
        try rig.reply(400)
        #expect(try rig.detail("blocked").string?.contains("503") == true && rig.uploads.isEmpty)
    }
}
