import Changelog
import DebouncerStage
import HealthModel
import Protocol
import Simulation
import TestSupport
import Testing

@Suite struct ReleaseWindowTests {
    private let policy = ReleaseWindow.Policy(
        window: .seconds(1), maximumWait: .seconds(5), byType: ["fast": .zero, "slow": .seconds(4)])

    private func window() -> ReleaseWindow { ReleaseWindow(policy: policy, released: .beginning) }

    @Test func closesWhenATypeHasBeenQuiet() {
        var window = window()
        #expect(window.changed("a", to: 10, at: 0) == false)
        #expect(window.nextDeadline == .seconds(1))
        // Each change delays the release.
        #expect(window.changed("a", to: 12, at: 600_000) == false)
        #expect(window.close(at: .seconds(1)).isEmpty && window.released["a"] == 0)
        #expect(window.close(at: 1_600_000) == ["a"])
        #expect(window.released["a"] == 12 && window.pendingTypes.isEmpty && window.nextDeadline == nil)
    }

    @Test func nothingWaitsForEver() {
        var window = window()
        var releasedAt: MonotonicTime?
        for step in 0..<100 where releasedAt == nil {
            let now = MonotonicTime(microseconds: Int64(step) * 500_000)
            _ = window.changed("a", to: SequenceNumber(Int64(step + 1)), at: now)
            if !window.close(at: now).isEmpty { releasedAt = now }
        }
        #expect(releasedAt == .seconds(5))
    }

    /// A wake lasts 15 seconds: a window longer than a third of that isn't waited for. A sync takes along what waits.
    @Test(arguments: [ReleaseWindow.Reach.fired, .collecting])
    func aWakeWaitsForNoLongWindowAndHasOneSync(reach: ReleaseWindow.Reach) {
        let policy = ReleaseWindow.Policy(
            window: .seconds(1), maximumWait: .seconds(900), byType: ["slow": .seconds(4), "long": .seconds(300)])
        var window = ReleaseWindow(policy: policy, released: .beginning)
        window.reach = reach
        _ = window.changed("slow", to: 10, at: 0)
        #expect(window.close(at: .seconds(3)).isEmpty && window.nextDeadline == .seconds(4))
        _ = window.changed("long", to: 14, at: .seconds(3))
        #expect(window.nextDeadline == .seconds(3))
        #expect(window.close(at: .seconds(3)) == (reach == .fired ? ["long", "slow"] : ["long"]))
        #expect(window.close(at: .seconds(4)) == (reach == .fired ? [] : ["slow"]))
        // A type that never rests doesn't outlast the wake either.
        for step in 0..<15 {
            _ = window.changed(
                "a", to: SequenceNumber(Int64(20 + step)),
                at: MonotonicTime(microseconds: Int64(10_000_000 + step * 500_000)))
        }
        #expect(window.nextDeadline == .seconds(15))
        // On the screen the windows are as long as they are set.
        window.reach = .everything
        _ = window.changed("long", to: 50, at: .seconds(20))
        #expect(window.close(at: .seconds(319)) == ["a"] && window.close(at: .seconds(320)) == ["long"])
    }

    /// A window that was open when the app left the screen closes in the seconds that the app has left.
    @Test func aLongWindowDoesNotStayOpenBehindTheScreen() {
        var window = ReleaseWindow(
            policy: .init(window: .seconds(300), maximumWait: .seconds(900)), released: .beginning)
        _ = window.changed("a", to: 10, at: 0)
        #expect(window.close(at: .seconds(10)).isEmpty)
        window.reach = .fired
        #expect(window.close(at: .seconds(10)) == ["a"] && window.released["a"] == 10)
    }

    /// A file's types come one after another, and all are released at once at its end.
    @Test func aFileThatIsReadIsOneBurst() {
        var window = ReleaseWindow(
            policy: .init(
                window: .seconds(1), maximumWait: .seconds(5), byType: ["fast": .zero], importWait: .seconds(60)),
            released: .beginning)
        window.isImporting = true
        _ = window.changed("a", to: 10, at: 0)
        _ = window.changed("b", to: 20, at: .seconds(30))
        // A consumer that wants a type at once gets it at once.
        let isReleased = window.changed("fast", to: 25, at: .seconds(30))
        #expect(isReleased)
        #expect(window.close(at: .seconds(59)) == [] && window.nextDeadline == .seconds(60))
        window.isImporting = false
        #expect(window.close(at: .seconds(59)) == ["a", "b"])
        // A file that takes forever, or whose observer is gone, holds up changes for no longer than `importWait`.
        window.isImporting = true
        _ = window.changed("a", to: 30, at: .seconds(100))
        #expect(window.close(at: .seconds(159)) == [] && window.close(at: .seconds(160)) == ["a"])
    }

    /// At the end of the file there is nothing left to wait for, not even a quiet window.
    @Test func theEndOfTheFileIsTheEndOfTheBurst() {
        var window = ReleaseWindow(
            policy: .init(window: .seconds(1), maximumWait: .seconds(5), importWait: .seconds(60)), released: .beginning
        )
        window.isImporting = true
        _ = window.changed("a", to: 10, at: .seconds(9))
        _ = window.changed("b", to: 20, at: .seconds(10))
        window.endBurst()
        #expect(window.close(at: .seconds(10)) == ["a", "b"])
        _ = window.changed("a", to: 30, at: .seconds(11))
        #expect(window.close(at: .seconds(11)) == [] && window.close(at: .seconds(12)) == ["a"])
    }

    @Test func aRepeatedHintDoesNotPutItOff() {
        var window = window()
        _ = window.changed("a", to: 10, at: 0)
        _ = window.changed("a", to: 10, at: 900_000)
        #expect(window.close(at: .seconds(1)) == ["a"])
    }

    @Test func aWindowOfZeroReleasesAtOnce() {
        var window = window()
        let isReleased = window.changed("fast", to: 10, at: 0)
        #expect(isReleased)
        #expect(window.released["fast"] == 10)
        #expect(window.changed("fast", to: 10, at: 0) == false)
    }

    @Test func aLongerWindowThanTheLongestWaitStillCloses() {
        var window = ReleaseWindow(
            policy: .init(window: .seconds(1), maximumWait: .seconds(2), byType: ["slow": .seconds(60)]),
            released: .beginning)
        _ = window.changed("slow", to: 5, at: 0)
        #expect(window.close(at: .seconds(59)) == [])
        #expect(window.close(at: .seconds(60)) == ["slow"])
    }

    @Test func theHeadGoesOnWhileATypeWaits() {
        var window = window()
        _ = window.changed("a", to: 10, at: 0)
        #expect(window.heard(head: 20, heads: ["a": 10, "b": 5], at: 0) == [])
        // "b" wasn't known before: it waits too.
        #expect(window.released == AnchorVector(base: 20, exceptions: ["a": 0, "b": 0]))
        _ = window.close(at: .seconds(1))
        #expect(window.released == AnchorVector(base: 20))
        // An older heartbeat changes nothing.
        _ = window.heard(head: 15, heads: ["a": 8], at: .seconds(2))
        #expect(window.released == AnchorVector(base: 20) && window.pendingTypes.isEmpty)
    }

    /// Types that were collected while the app had no time, and a release of one of them.
    @Test func aReleaseTakesFromThePendingSetOnlyWhatItReleases() {
        var window = window()
        window.reach = .collecting
        for (type, sequence) in [("a", 10), ("b", 11), ("slow", 12)] as [(String, SequenceNumber)] {
            _ = window.changed(type, to: sequence, at: 0)
        }
        // The windows of two types have closed; the third still waits for its own.
        #expect(window.close(at: .seconds(1)) == ["a", "b"])
        #expect(window.pendingSet == ["a": 10, "b": 11, "slow": 12])
        let moved = window.releaseEverything { $0 == "a" }
        #expect(moved == ["a"] && window.released["a"] == 10)
        #expect(window.pendingSet == ["b": 11, "slow": 12] && window.hasCollected)
        #expect(window.released["b"] == 0 && window.released["slow"] == 0)
        // Changes to a type after its release wait again, together with the others.
        _ = window.changed("a", to: 20, at: .seconds(2))
        #expect(window.pendingSet == ["a": 20, "b": 11, "slow": 12])
    }

    /// Whatever happens, in any order: the released sequence number never falls back, nothing is released before its
    /// window closes, and in the end everything is released.
    @Test func neverFallsBackAndNeverStarves() {
        var random = SeededRandom(seed: 4)
        for round in 0..<200 {
            var window = ReleaseWindow(
                policy: .init(window: .seconds(1), maximumWait: .seconds(3), byType: ["c": .zero]),
                released: .beginning)
            var heads: [String: SequenceNumber] = [:]
            var head = SequenceNumber.beginning
            var now: MonotonicTime = 0
            var said: [(head: SequenceNumber, heads: [String: SequenceNumber])] = []
            for _ in 0..<200 {
                now += .microseconds(Int64.random(in: 0...400_000, using: &random))
                let before = window.released
                let reach = window.reach
                switch Int.random(in: 0..<6, using: &random) {
                case 0:
                    head = head.next
                    heads[["a", "b", "c"].randomElement(using: &random) ?? "a"] = head
                    said.append((head, heads))
                case 1:
                    if let type = heads.randomElement(using: &random) {
                        _ = window.changed(type.key, to: type.value, at: now)
                    }
                case 2:
                    // A heartbeat may be an old one.
                    if let beat = said.suffix(5).randomElement(using: &random) {
                        _ = window.heard(head: beat.head, heads: beat.heads, at: now)
                    }
                case 3:
                    let all: [ReleaseWindow.Reach] = [.everything, .everything, .fired, .collecting, .nothing]
                    window.reach = all.randomElement(using: &random) ?? .everything
                case 4: if reach == .everything { _ = window.releaseEverything() }
                default: _ = window.close(at: now)
                }
                for type in ["a", "b", "c", "other"] {
                    #expect(window.released[type] >= before[type], "round \(round)")
                    #expect(window.released[type] <= head, "round \(round)")
                    // While the app has no time, no pending change is released; where nothing is pending, the head
                    // moves on.
                    if reach == .collecting || reach == .nothing, let newest = heads[type], newest > before[type] {
                        #expect(window.released[type] < newest, "round \(round)")
                    }
                }
                if let deadline = window.nextDeadline { #expect(deadline <= now + .seconds(3)) }
            }
            window.reach = .everything
            _ = window.releaseEverything()
            _ = window.heard(head: head, heads: heads, at: now)
            _ = window.close(at: now + .seconds(3))
            #expect(window.released == AnchorVector(base: head), "round \(round)")
        }
    }
}
