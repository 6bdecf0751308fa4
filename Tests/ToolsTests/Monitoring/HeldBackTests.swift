import BackgroundDelivery
import HealthModel
import Monitoring
import Protocol
import TestSupport
import Testing

/// What a tap says about data that waits, and when a followed sample passed each stage.
@Suite struct HeldBackTests {
    private static let type = "HKQuantityTypeIdentifierStepCount"

    private func beat(_ name: String, _ details: [String: Value] = [:], consumed: SequenceNumber? = nil) -> Heartbeat {
        Heartbeat(
            instance: name, plugin: name, phase: .ready, pid: 1,
            head: StoreHead(store: "s", generation: "g", sequence: 100),
            frontier: consumed.map { ["observer": $0] } ?? [:]
        ).saying(details)
    }

    /// Up to 99 is fired; the sample under follow-up is 100.
    private var unfired: Value { ["base": 100, "types": [Self.type: 99]] }

    private func trace(fired: Bool, computed: Bool, at: Instant? = nil, _ more: [Heartbeat] = []) -> SampleTrace {
        var facts = SampleTrace.Facts(
            place: SampleWhereabouts(
                id: "0195f848", uuid: "11111111-2222-4333-8444-555555555555", user: "me", type: Self.type,
                sequence: 100, born: 100, start: 0, end: 0, state: .alive, stored: nil,
                changed: Instant(seconds: 1000)), observer: "observer")
        (facts.debouncer, facts.handler) = ("debouncer", "steps")
        facts.days = ["2025-03-30"]
        facts.figures = [.init(day: "2025-03-30", sequence: 5, at: at)]
        let consumed: SequenceNumber = fired && computed ? 100 : 99
        var beats = [
            beat("observer", fired ? [:] : ["fired": unfired]), beat("debouncer", consumed: consumed),
            beat("steps", consumed: consumed),
        ]
        beats.removeAll { old in more.contains { $0.instance == old.instance } }
        facts.beats = Dictionary(uniqueKeysWithValues: (beats + more).map { ($0.instance, $0) })
        return SampleTrace(facts)
    }

    @Test func theStepThatASampleWaitsForSaysWhy() {
        func why(_ name: String, fired: Bool, _ beats: Heartbeat...) -> String? {
            trace(fired: fired, computed: false, beats).steps.first { $0.name == name }?.why
        }
        func observer(_ details: [String: Value]) -> Heartbeat {
            beat("observer", details.merging(["fired": unfired]) { $1 })
        }
        #expect(why("fired", fired: false, observer(["device": ["locked": true]]))?.contains("is locked") == true)
        #expect(why("fired", fired: false, observer(["device": ["app": "forceQuit"]]))?.contains("force-quit") == true)
        #expect(
            why("fired", fired: false, observer(["device": ["app": "background", "deferring": true]]))?
                .contains("no background time") == true)
        #expect(
            why("fired", fired: false, observer(["device": ["app": "background"], "nextWake": 1_743_315_300_000_000]))?
                .contains("until 2025-03-30T06:15:00Z") == true)
        #expect(why("fired", fired: false, observer(["off": [.string(Self.type)]]))?.contains("switched off") == true)
        #expect(why("fired", fired: true) == nil)

        let background = beat("observer", ["device": ["app": "background"]])
        let task: Value = ["id": "healthkit-sync", "state": "pending", "waitsFor": "no network path"]
        let collecting = beat("debouncer", ["pending": 1, "tasks": [task]], consumed: 99)
        #expect(
            why("released", fired: true, background, collecting)
                == "the task healthkit-sync waits: no network path; 'healthbus tasks launch healthkit-sync' starts it")
        let window = beat("debouncer", ["pending": 1], consumed: 99)
        #expect(why("released", fired: true, window)?.contains("window is still open") == true)
        #expect(
            why("released", fired: true, window, beat("observer", ["importOpen": true]))?.contains("file") == true)

        #expect(why("computed", fired: true, beat("steps", ["pending": 3], consumed: 99))?.contains("days") == true)
    }

    /// Of two whose lines could change places, the cause is written first and isn't later.
    @Test func whatOnlyIsSeenLateIsNotLaterThanWhatFollowedFromIt() {
        var times = StepTimes()
        _ = times.look(trace(fired: false, computed: false), asked: Instant(seconds: 1000), isFirst: true)
        let seen = times.look(
            trace(fired: true, computed: true, at: Instant(seconds: 1004)), asked: Instant(seconds: 1005),
            isFirst: false)
        #expect(seen.map(\.step.name) == ["stored", "fired", "released", "computed"])
        #expect(seen.map { $0.step.at ?? $0.seen } == [1000, 1004, 1004, 1004].map { Instant(seconds: $0) })
    }

    /// The row's time is that of its last change, which may have been long before.
    @Test func aRowThatTheSampleDidNotChangeHasNoTime() {
        var times = StepTimes()
        _ = times.look(trace(fired: false, computed: false), asked: Instant(seconds: 1010), isFirst: true)
        for old in [900, 1005] as [Int64] {
            var again = times
            let seen = again.look(
                trace(fired: true, computed: true, at: Instant(seconds: old)), asked: Instant(seconds: 1020),
                isFirst: false)
            #expect(seen.last?.step.at == nil)
            #expect(seen.dropFirst().allSatisfy { $0.seen == Instant(seconds: 1020) })
        }
    }

    @Test func whatHoldsASampleBackIsSaidOnceItHasLasted() {
        var holdup = Holdup()
        let locked = trace(
            fired: false, computed: false, [beat("observer", ["fired": unfired, "device": ["locked": true]])]
        ).steps
        #expect(holdup.lasting(locked, at: Instant(seconds: 10)) == nil)
        let said = holdup.lasting(locked, at: Instant(seconds: 11))
        #expect(said?.name == "fired" && said?.why?.contains("locked") == true)
        #expect(holdup.lasting(locked, at: Instant(seconds: 20)) == nil)
        let next = trace(fired: true, computed: false, [beat("debouncer", ["pending": 1], consumed: 99)]).steps
        #expect(holdup.lasting(next, at: Instant(seconds: 21)) == nil)
        #expect(holdup.lasting(next, at: Instant(seconds: 22))?.name == "released")
    }

    /// A window that closes within a second is no news; a locked phone is, and that it was unlocked.
    @Test func aTapSaysWhyNothingComesAndWhenItGoesOn() {
        var notes = HeldBackNotes(type: nil, observer: "observer", debouncer: "debouncer")
        func hear(_ second: Int64, _ name: String, _ details: [String: Value]) -> HeldBackNotes.News? {
            notes.heard(beat(name, details).message(at: Instant(seconds: second)))
        }
        let locked: [String: Value] = ["fired": unfired, "device": ["locked": true]]
        #expect(hear(1, "observer", ["device": ["locked": true]]) == nil)
        #expect(hear(2, "observer", locked) == nil)
        guard case .heldBack(let why) = hear(3, "observer", locked) else {
            Issue.record("nothing was said")
            return
        }
        #expect(why.contains("the device is locked"))
        #expect(hear(4, "observer", locked) == nil)
        #expect(hear(5, "observer", [:]) == .goesOn)
        #expect(hear(6, "observer", [:]) == nil)
        for second in 7..<12 {
            #expect(hear(Int64(second), "debouncer", ["pending": 2]) == nil)
            // Handlers have days of their own to compute.
            #expect(hear(Int64(second), "steps", ["pending": 2]) == nil)
        }
    }
}
