import BackgroundDelivery
import Changelog
import Configuration
import Doctor
import Foundation
import HealthModel
import Logging
import Protocol
import TestSupport
import Testing

/// What the dashboard lists as waiting: over ordinary days, nothing.
@Suite struct WaitListTests {
    private static let now = Instant(seconds: 1_790_000_000)
    private let stack: StackConfiguration

    init() throws {
        let catalog = try PluginCatalog(
            folder: Checkout.root.appending(path: "plugins").path, programs: "/nowhere")
        stack = try StackConfiguration(path: nil, catalog: catalog)
    }

    private func list(
        raised: [Alert.Kind] = [], _ change: (inout Examination) -> Void = { _ in }
    ) -> [WaitList.Entry] {
        var seen = Examination(stack, state: "/s", now: Self.now, beats: [:])
        for name in stack.instances.map(\.name) + ["supervisor"] {
            let beat = Heartbeat(
                instance: name, plugin: name, phase: .ready, pid: 7,
                head: StoreHead(store: "s", generation: "g", sequence: 100),
                frontier: name == "observer" ? [:] : ["observer": 100], lastCommit: Self.now - .seconds(3600),
                configuration: stack.instance(name)?.fingerprint)
            seen.beats[name] = (beat, 0.2)
        }
        seen.freeBytes = 50_000_000_000
        change(&seen)
        let alerts = raised.map { kind in
            (
                from: "steps",
                alert: RaisedAlert(
                    kind: kind.rawValue, subject: "", text: "It happened.", remedy: "do this", since: Self.now)
            )
        }
        return WaitList(seen, alerts, Advice()).entries
    }

    @Test func aHealthyStackWaitsForNothing() { #expect(list() == []) }

    @Test func newsWaitsForNobody() {
        let raised = list(raised: Alert.Kind.allCases)
        #expect(raised.count == Alert.Kind.allCases.count { !$0.isNews })
        #expect(raised.allSatisfy { $0.kind == .alert && $0.severity == .warning })
        #expect(list(raised: [.workoutRecorded, .unlockReminder]) == [])
    }

    /// Every stack has tasks that wait for their hour.
    @Test func aTaskIsListedOnceItIsHeldUp() {
        func tasks(_ why: TaskObstacle) -> [WaitList.Entry] {
            list { seen in
                var task = ScheduledTask(id: "daily", state: .pending)
                task.waitsFor = why.rawValue
                seen.beats["consolidator"]?.beat.say(["tasks": .array([Value(task)])])
            }
        }
        #expect(tasks(.notYet) == [] && tasks(.device) == [])
        #expect(tasks(.noPower).map(\.kind) == [.task])
    }

    /// A lock keeps something waiting only if something has come.
    @Test func aLockedPhoneIsListedOnceAndOnlyIfSomethingWaits() {
        func locked(_ seen: inout Examination) {
            seen.beats["observer"]?.beat.say(["device": ["locked": true, "app": "active"]])
        }
        #expect(list(locked) == [])
        let waits = list { seen in
            locked(&seen)
            for name in ["steps", "sleep", "uploader"] { seen.beats[name]?.beat.frontier["observer"] = 50 }
        }
        #expect(waits.map(\.kind) == [.locked] && waits.first?.severity == .note, "\(waits)")
    }

    /// How a stack is set up never passes, so it would fill the page for ever.
    @Test func aBackendThatIsTrustedIsNothingThatWaits() {
        let trusted = list { seen in
            seen.beats["uploader"]?.beat.say(["backend": ["acceptance": "trust", "compared": .null]])
        }
        #expect(trusted == [])
    }

    @Test func workIsListedOncePerProcess() {
        let busy = list { seen in
            seen.beats["steps"]?.beat.say(["pending": 12, "failedDays": 0])
            seen.beats["steps"]?.beat.lastCommit = Self.now
            seen.earlier = seen.beats
        }
        #expect(busy.map(\.kind) == [.pending] && busy.first?.subject == "steps", "\(busy)")
    }

    @Test func aFullDiskIsListedFirst() {
        let full = list { $0.freeBytes = 0 }
        #expect(full.first?.kind == .finding && full.first?.severity == .error)
        #expect(full.first?.what.contains("its disk is full") == true)
    }
}
