import Changelog
import DebouncerStage
import HealthModel
import Protocol
import Simulation
import TestSupport
import Testing

@Suite struct ReleaseWindowTests {
    private static let second = Instant.second
    private let policy = ReleaseWindow.Policy(
        window: second, maximumWait: 5 * second, byType: ["fast": 0, "slow": 4 * second])

    private func window() -> ReleaseWindow { ReleaseWindow(policy: policy, released: .zero) }

    @Test func closesWhenATypeHasBeenQuiet() {
        var window = window()
        #expect(window.changed("a", to: 10, at: 0) == false)
        #expect(window.nextDeadline == Self.second)
        // Each change puts it off.
        #expect(window.changed("a", to: 12, at: 600_000) == false)
        #expect(window.close(at: Self.second).isEmpty && window.released["a"] == 0)
        #expect(window.close(at: 1_600_000) == ["a"])
        #expect(window.released["a"] == 12 && window.pendingTypes.isEmpty && window.nextDeadline == nil)
    }

    @Test func nothingWaitsForEver() {
        var window = window()
        var releasedAt: Instant?
        for step in 0..<100 where releasedAt == nil {
            let now = Instant(step) * 500_000
            _ = window.changed("a", to: Int64(step + 1), at: now)
            if !window.close(at: now).isEmpty { releasedAt = now }
        }
        #expect(releasedAt == 5 * Self.second)
    }

    @Test func aRepeatedHintDoesNotPutItOff() {
        var window = window()
        _ = window.changed("a", to: 10, at: 0)
        _ = window.changed("a", to: 10, at: 900_000)
        #expect(window.close(at: Self.second) == ["a"])
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
            policy: .init(window: Self.second, maximumWait: 2 * Self.second, byType: ["slow": 60 * Self.second]),
            released: .zero)
        _ = window.changed("slow", to: 5, at: 0)
        #expect(window.close(at: 59 * Self.second) == [])
        #expect(window.close(at: 60 * Self.second) == ["slow"])
    }

    @Test func theHeadGoesOnWhileATypeWaits() {
        var window = window()
        _ = window.changed("a", to: 10, at: 0)
        #expect(window.heard(head: 20, heads: ["a": 10, "b": 5], at: 0) == [])
        // "b" wasn't known: it waits too.
        #expect(window.released == AnchorVector(base: 20, exceptions: ["a": 0, "b": 0]))
        _ = window.close(at: Self.second)
        #expect(window.released == AnchorVector(base: 20))
        // An older heartbeat changes nothing.
        _ = window.heard(head: 15, heads: ["a": 8], at: 2 * Self.second)
        #expect(window.released == AnchorVector(base: 20) && window.pendingTypes.isEmpty)
    }

    /// Types that were collected while the app had no time, and a release of one of them.
    @Test func aReleaseTakesFromThePendingSetOnlyWhatItReleases() {
        var window = window()
        window.reach = .collecting
        for (type, sequence) in [("a", 10), ("b", 11), ("slow", 12)] as [(String, Int64)] {
            _ = window.changed(type, to: sequence, at: 0)
        }
        // Two have had their window, the third waits for its own.
        #expect(window.close(at: Self.second) == ["a", "b"])
        #expect(window.pendingSet == ["a": 10, "b": 11, "slow": 12])
        let moved = window.releaseEverything { $0 == "a" }
        #expect(moved == ["a"] && window.released["a"] == 10)
        #expect(window.pendingSet == ["b": 11, "slow": 12] && window.hasCollected)
        #expect(window.released["b"] == 0 && window.released["slow"] == 0)
        // What comes of a type after its release waits again, and the others with it.
        _ = window.changed("a", to: 20, at: 2 * Self.second)
        #expect(window.pendingSet == ["a": 20, "b": 11, "slow": 12])
    }

    /// Whatever comes in whatever order: what is released never falls back, nothing that may still wait is released, and all of it in the end.
    @Test func neverFallsBackAndNeverStarves() {
        var random = SeededRandom(seed: 4)
        for round in 0..<200 {
            var window = ReleaseWindow(
                policy: .init(window: Self.second, maximumWait: 3 * Self.second, byType: ["c": 0]), released: .zero)
            var heads: [String: Int64] = [:]
            var head: Int64 = 0
            var now: Instant = 0
            var said: [(head: Int64, heads: [String: Int64])] = []
            for _ in 0..<200 {
                now += Instant.random(in: 0...400_000, using: &random)
                let before = window.released
                let reach = window.reach
                switch Int.random(in: 0..<6, using: &random) {
                case 0:
                    head += 1
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
                    // Without time nothing goes out that is there; where nothing is, the head goes on.
                    if reach == .collecting || reach == .nothing, let newest = heads[type], newest > before[type] {
                        #expect(window.released[type] < newest, "round \(round)")
                    }
                }
                if let deadline = window.nextDeadline { #expect(deadline <= now + 3 * Self.second) }
            }
            window.reach = .everything
            _ = window.releaseEverything()
            _ = window.heard(head: head, heads: heads, at: now)
            _ = window.close(at: now + 3 * Self.second)
            #expect(window.released == AnchorVector(base: head), "round \(round)")
        }
    }
}
