import HealthModel
import Inspection
import Protocol
import TestSupport
import Testing

@Suite struct IdleWatchTests {
    private static let second = Duration.seconds(1)

    private func watch(closedHead: SequenceNumber = 100) -> IdleWatch {
        IdleWatch(
            roles: .init(
                observer: "observer", handlers: ["a", "b"], consolidator: "consolidator", uploaders: ["uploader"],
                documents: ["consolidator"]), closedHead: closedHead)
    }

    /// Heartbeats of a stack that has finished everything up to 100.
    private func beats() -> Beats {
        [
            "observer": (beat("observer", head(100), details: ["importOpen": false]), 0),
            "a": (beat("a", head(7), frontier: ["observer": 100], details: ["pending": 0]), 0),
            "b": (beat("b", head(8), frontier: ["observer": 100], details: ["pending": 0]), 0),
            "consolidator": (
                beat("consolidator", head(50), frontier: ["observer": 100], details: ["openDays": 0]), 0
            ),
            "uploader": (beat("uploader", head(1), frontier: ["observer": 100, "consolidator": 50]), 0),
        ]
    }

    private func verdict(
        closedHead: SequenceNumber = 100, _ change: (inout Beats) -> Void = { _ in }
    ) -> IdleWatch.Verdict {
        var watch = watch(closedHead: closedHead)
        var beats = beats()
        change(&beats)
        return watch.judge(beats, at: 0)
    }

    private func isWaiting(_ verdict: IdleWatch.Verdict, for who: String) -> Bool {
        if case .waiting(let what) = verdict { return what.hasPrefix(who + ":") }
        return false
    }

    /// A waiting command asks the uploader to compare, but not while the uploader is still delivering.
    @Test func onlyWhatIsDeliveredIsToBeCompared() {
        func uncompared(_ change: (inout Beats) -> Void) -> [String] {
            var watch = watch()
            var beats = beats()
            change(&beats)
            _ = watch.judge(beats, at: 0)
            return watch.uncompared
        }
        #expect(uncompared { $0["uploader"]?.beat.say(["backend": ["isCompared": false]]) } == ["uploader"])
        #expect(uncompared { $0["uploader"]?.beat.say(["backend": ["isCompared": true]]) } == [])
        let delivering = uncompared {
            $0["uploader"]?.beat.say(["backend": ["isCompared": false]])
            $0["uploader"]?.beat.frontier["consolidator"] = 49
        }
        #expect(delivering == [])
    }

    @Test func isIdleWhenAllHaveCaughtUp() { #expect(verdict() == .idle) }

    @Test func waitsForWhoeverIsBehind() {
        #expect(isWaiting(verdict(closedHead: 101), for: "observer"))
        #expect(isWaiting(verdict { $0["observer"]?.beat.say(["importOpen": true]) }, for: "observer"))
        let copying: [String: Value] = ["importOpen": true, "copying": true]
        #expect(
            verdict { $0["observer"]?.beat.say(copying) }
                == .waiting("observer: the stack that this one follows isn't copied to its end yet"))
        #expect(isWaiting(verdict { $0["a"]?.beat.frontier["observer"] = 99 }, for: "a"))
        #expect(isWaiting(verdict { $0["b"]?.age = 28 }, for: "b"))
        #expect(isWaiting(verdict { $0["consolidator"]?.beat.frontier["observer"] = 99 }, for: "consolidator"))
        #expect(isWaiting(verdict { $0["consolidator"]?.beat.say(["openDays": 1]) }, for: "consolidator"))
        #expect(isWaiting(verdict { $0["uploader"]?.beat.frontier["observer"] = 99 }, for: "uploader"))
        #expect(isWaiting(verdict { $0["uploader"]?.beat.frontier["consolidator"] = 49 }, for: "uploader"))
        #expect(isWaiting(verdict { $0["uploader"] = nil }, for: "uploader"))
        // It isn't known yet whether the backend still has what it accepted.
        #expect(isWaiting(verdict { $0["uploader"]?.beat.say(["backend": ["isCompared": false]]) }, for: "uploader"))
        #expect(verdict { $0["uploader"]?.beat.say(["backend": ["isCompared": true]]) } == .idle)
    }

    /// Comparing ten years element by element takes longer than its patience.
    @Test func aComparisonThatGoesOnIsProgress() {
        var watch = watch()
        func judge(_ rows: Int64, at time: MonotonicTime) -> IdleWatch.Verdict {
            var beats = beats()
            beats["uploader"]?.beat.say(["backend": ["isCompared": false, "comparing": .integer(rows)]])
            return watch.judge(beats, at: time)
        }
        for step in 0..<10 {
            #expect(isWaiting(judge(Int64(step) * 100_000, at: 0 + Self.second * (60 * step)), for: "uploader"))
        }
        guard case .blocked = judge(900_000, at: 0 + Self.second * 640) else {
            Issue.record("it waits although nothing is read any more")
            return
        }
    }

    /// Dead letters that are being sent again count too.
    @Test func waitsForWhatWasAskedForByHand() {
        for name in ["observer", "a", "consolidator", "uploader"] {
            let verdict = verdict {
                $0["uploader"]?.beat.say(["deadLetters": 2])
                $0[name]?.beat.say(["mending": ["id": "1", "action": "retry", "state": "underWay", "left": 1]])
            }
            #expect(isWaiting(verdict, for: name))
        }
        let done = verdict { $0["a"]?.beat.say(["mending": ["id": "1", "action": "retry", "state": "done"]]) }
        #expect(done == .idle)
    }

    @Test func saysWhatOnlyAPersonCanRepair() {
        #expect(verdict { $0["uploader"]?.beat.say(["deadLetters": 2]) } == .blocked("'uploader' has 2 dead letters"))
        let paused = verdict {
            $0["uploader"]?.beat.say(["paused": true])
            $0["uploader"]?.beat.say(["blocked": "the token is refused"])
        }
        #expect(paused == .blocked("uploader: the token is refused"))
    }

    /// A day that can't be computed doesn't hold up any others: they are delivered first.
    @Test func daysThatFailAreReportedOnceTheOthersAreDelivered() {
        func failing(_ change: (inout Beats) -> Void) -> IdleWatch.Verdict {
            verdict {
                $0["a"]?.beat.say(["failedDays": 1])
                change(&$0)
            }
        }
        #expect(isWaiting(failing { $0["a"]?.beat.frontier["observer"] = 99 }, for: "a"))
        #expect(isWaiting(failing { $0["b"]?.beat.frontier["observer"] = 99 }, for: "b"))
        #expect(isWaiting(failing { $0["consolidator"]?.beat.say(["openDays": 1]) }, for: "consolidator"))
        #expect(isWaiting(failing { $0["uploader"]?.beat.frontier["consolidator"] = 49 }, for: "uploader"))
        #expect(failing { _ in } == .blocked("a: 1 day couldn't be computed"))
        let both = failing { $0["b"]?.beat.say(["failedDays": 2]) }
        #expect(both == .blocked("a: 1 day couldn't be computed; b: 2 days couldn't be computed"))
    }

    @Test func waitsForTheImportNotForWhatComesAfter() {
        var watch = watch()
        var beats = beats()
        beats["a"]?.beat.frontier["observer"] = 99
        _ = watch.judge(beats, at: 0)
        // A live source continues, but the target stays the same.
        beats["observer"]?.beat.head = head(900)
        beats["a"]?.beat.frontier["observer"] = 100
        let verdict = watch.judge(beats, at: 1)
        #expect(verdict == .idle && watch.target == 100)
    }

    /// Progress is checked once a second, and once more before the command reports that there was none.
    @Test func progressBetweenTheLooksCounts() {
        var watch = watch()
        var beats = beats()
        beats["a"]?.beat.frontier["observer"] = 10
        _ = watch.judge(beats, at: 0)
        beats["a"]?.beat.frontier["observer"] = 20
        #expect(isWaiting(watch.judge(beats, at: 500_000), for: "a"))
        #expect(isWaiting(watch.judge(beats, at: .seconds(95)), for: "a"))
        let late = watch.judge(beats, at: .seconds(186))
        #expect(late == .blocked("a: 0 days to compute; no progress for 91 s"))
    }

    @Test func withoutProgressItGivesUp() {
        var watch = watch()
        var beats = beats()
        beats["a"]?.beat.frontier["observer"] = 10
        var last = IdleWatch.Verdict.idle
        for step in 0..<200 {
            // There is some progress after 80 s, and none after that.
            if step == 80 { beats["a"]?.beat.frontier["observer"] = 20 }
            last = watch.judge(beats, at: .seconds(step))
            if case .blocked(let why) = last {
                #expect(step == 170 && why.contains("no progress for 90 s"))
                return
            }
        }
        Issue.record("still \(last)")
    }
}
