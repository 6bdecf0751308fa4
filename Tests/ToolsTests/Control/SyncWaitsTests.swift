import Control
import HealthModel
import Inspection
import Protocol
import TestSupport
import Testing

/// What isn't heard isn't delivered, and `healthbus sync` says so.
@Suite struct SyncWaitsTests {
    private let roles = StackRoles(
        observer: "observer", handlers: ["steps", "sleep"], consolidator: "consolidator", uploaders: ["uploader"],
        documents: ["consolidator"], backends: ["backend"])

    private func beat(_ name: String, _ details: [String: Value] = [:]) throws -> Heartbeat {
        let beat = Heartbeat(
            instance: name, plugin: name, phase: .ready, pid: 7,
            head: StoreHead(store: name, generation: "g", sequence: 9, first: 1),
            frontier: ["observer": 9, "consolidator": 9], lastCommit: 1)
        return details.isEmpty ? beat : beat.saying(details)
    }

    /// Everything is delivered.
    private func beats() throws -> Beats {
        var beats: Beats = [:]
        for name in ["observer", "steps", "sleep", "consolidator", "uploader"] { beats[name] = (try beat(name), 0.2) }
        return beats
    }

    private func stopping(_ names: String...) throws -> Beats {
        var beats = try beats()
        beats["supervisor"] = (
            try beat(
                "supervisor", ["processes": [], "swaps": [], "stopped": .array(names.map { .string($0) })]), 0.2
        )
        for name in names { beats[name] = nil }
        return beats
    }

    private func waits(_ beats: Beats, waiting: [String]? = nil, metrics: [String] = ["steps", "sleep"])
        -> [String]
    {
        let result = RoundResult(
            number: 1, reason: "sync", began: .epoch, duration: 0, succeeded: [:], failed: [:])
        let manual = DebouncerDetails.Manual(
            id: "1", problem: nil, round: 1, waiting: waiting, result: waiting == nil ? result : nil)
        return SyncClient.waits(
            manual, "1", beats, roles, silences: SyncClient.silences(roles, metrics: metrics, beats))
    }

    @Test(arguments: ["observer", "steps", "consolidator", "uploader"])
    func whoIsntHeardHasntDelivered(_ name: String) throws {
        #expect(try waits(beats()) == [])
        let reported = ["\(name) isn't heard: 'healthbus doctor' says what to do"]
        var beats = try beats()
        beats[name]?.age = 4
        #expect(waits(beats) == reported)
        beats[name]?.age = 2
        beats[name]?.beat.phase = .stopped
        #expect(waits(beats) == reported)
        beats[name] = nil
        #expect(waits(beats) == reported)
        #expect(waits(beats, waiting: [name]) == reported)
        let silences = SyncClient.silences(roles, metrics: ["steps", "sleep"], beats)
        #expect(!SyncClient.isVain(silences, waits(beats), roles), "it may answer yet")
    }

    @Test(arguments: ["observer", "steps", "consolidator", "uploader"])
    func whatWasStoppedByHandIsntWaitedFor(_ name: String) throws {
        let beats = try stopping(name)
        let silences = SyncClient.silences(roles, metrics: ["steps", "sleep"], beats)
        #expect(waits(beats) == ["\(name) was stopped by hand: 'healthbus start \(name)' starts it"])
        #expect(SyncClient.isVain(silences, waits(beats), roles))
        // Others go on, but nothing comes from an observer that doesn't run.
        let others = waits(beats, waiting: ["sleep"])
        #expect(others.count == 2)
        #expect(SyncClient.isVain(silences, others, roles) == (name == "observer"))
    }

    @Test func aSyncOfOneMetricWaitsForNoOther() throws {
        #expect(try waits(stopping("sleep"), metrics: ["steps"]) == [])
        #expect(try waits(stopping("steps"), metrics: ["steps"]).count == 1)
    }

    @Test func theBackendCountsWhileDeliveriesToItFail() throws {
        var beats = try stopping("backend")
        #expect(waits(beats) == [])
        beats["uploader"]?.beat.say(["blocked": "no connection"])
        #expect(waits(beats) == ["backend was stopped by hand: 'healthbus start backend' starts it"])
        #expect(SyncClient.isVain(SyncClient.silences(roles, metrics: [], beats), waits(beats), roles))
    }

    @Test func itIsPartOfTheOutcome() throws {
        let outcome = SyncClient.Outcome(
            metrics: [], waiting: waits(try stopping("steps")), refused: [], off: [], alerts: 0, seconds: 1)
        #expect(!outcome.isDelivered && outcome.value["delivered"] == false)
        #expect(outcome.value["blocked"] == ["steps was stopped by hand: 'healthbus start steps' starts it"])
    }
}
