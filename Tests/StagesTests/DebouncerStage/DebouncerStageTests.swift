import Changelog
import DebouncerStage
import HealthModel
import Protocol
import TestSupport
import Testing

@Suite struct DebouncerStageTests {
    private static let second = Duration.seconds(1)

    private func rig(window: Duration) throws -> StageRig<DebouncerStage> {
        try StageRig {
            DebouncerStage(
                observer: "observer",
                consumers: [
                    .init(name: "steps", types: ["a"]), .init(name: "rest", types: nil, except: ["a"]),
                    .init(name: "uploader", types: nil),
                ],
                policy: .init(window: window, maximumWait: .seconds(5)))
        }
    }

    private func released(_ rig: StageRig<DebouncerStage>, _ consumer: String) -> AnchorVector? {
        rig.sent.last { $0.topic == "sync.\(consumer)" }.flatMap { $0.body["released"].read(AnchorVector.self) }
    }

    private func fire(_ rig: StageRig<DebouncerStage>, _ type: String, _ sequence: Int64) throws {
        try rig.hear(
            "observed.\(type)",
            ["head": Value(head(sequence)), "type": .string(type), "sequence": .integer(sequence)])
    }

    @Test func releasesToWhomItConcernsWhenTheWindowCloses() throws {
        let rig = try rig(window: .seconds(1))
        try fire(rig, "a", 10)
        try rig.hear(beat("observer", head(10), heads: ["a": 10]))
        rig.sent = []
        try rig.pass(.microseconds(900_000))
        #expect(released(rig, "steps").map { $0["a"] < 10 } ?? true)
        try rig.pass(.microseconds(100_000))
        #expect(released(rig, "steps") == AnchorVector(base: 10))
        #expect(released(rig, "uploader") == AnchorVector(base: 10))
        // A type that a consumer doesn't take never holds up that consumer.
        #expect(released(rig, "rest") == AnchorVector(base: 10))
    }

    @Test func aTypeThatWaitsHoldsOnlyItsConsumersBack() throws {
        let rig = try rig(window: .seconds(1))
        try rig.hear(beat("observer", head(10), heads: ["a": 10]))
        try rig.pass(.microseconds(300_000))
        #expect(released(rig, "rest") == AnchorVector(base: 10))
        #expect(released(rig, "steps") == AnchorVector(base: 10, exceptions: ["a": 0]))
    }

    @Test func withoutAWindowItReleasesInTheSameTurn() throws {
        let rig = try rig(window: .zero)
        try fire(rig, "a", 10)
        #expect(released(rig, "steps")?["a"] == 10)
    }

    @Test func everyReleaseIsRepeated() throws {
        let rig = try rig(window: .zero)
        try fire(rig, "a", 10)
        rig.sent = []
        for _ in 0..<4 { try rig.pass(.microseconds(250_000)) }
        #expect(
            Set(rig.sent.map(\.topic).filter { $0.hasPrefix("sync.") }) == ["sync.steps", "sync.rest", "sync.uploader"])
        #expect(released(rig, "steps")?["a"] == 10)
        #expect((rig.deadline ?? .distantFuture) <= rig.monotonic + .seconds(1))
    }

    /// While nothing changes, little is sent; an instance that restarts gets its release at once, and the others don't.
    @Test func aRestingReleaseIsRepeatedSeldomAndSentToWhoBeginsAgain() throws {
        let rig = try rig(window: .zero)
        try fire(rig, "a", 10)
        var steps = beat("steps", head(1), frontier: ["observer": 10])
        steps.epoch = 1
        try rig.hear(steps)
        // The observer has registered this launch.
        try rig.hear(beat("observer", head(10), heads: ["a": 10], details: ["registered": ["debouncer": 1]]))
        for _ in 0..<60 { try rig.pass(.microseconds(250_000)) }
        rig.sent = []
        for _ in 0..<40 { try rig.pass(.microseconds(250_000)) }
        #expect(rig.sent.count { $0.topic == "sync.steps" } <= 3)
        rig.sent = []
        steps.epoch = 2
        try rig.hear(steps)
        try rig.pass(.microseconds(250_000))
        #expect(rig.sent.filter { $0.topic.hasPrefix("sync.") }.map(\.topic) == ["sync.steps"])
    }

    @Test func whatWasReleasedStaysSoOverARestart() throws {
        let rig = try rig(window: .seconds(1))
        try fire(rig, "a", 10)
        try rig.hear(beat("observer", head(10), heads: ["a": 10]))
        try rig.pass(Self.second)
        try rig.restart()
        try rig.pass(Self.second)
        #expect(released(rig, "steps") == AnchorVector(base: 10))
        // Types that were waiting when the process ended wait again, for at most their window.
        try fire(rig, "a", 20)
        try rig.restart()
        try rig.hear(beat("observer", head(20), heads: ["a": 20]))
        try rig.pass(Self.second)
        #expect(released(rig, "steps") == AnchorVector(base: 20))
    }

    @Test func anotherStoreBeginsAgain() throws {
        let rig = try rig(window: .zero)
        try fire(rig, "a", 100)
        try rig.hear(beat("observer", head(40, store: "new", generation: "two"), heads: ["a": 40]))
        let said = try #require(rig.sent.last { $0.topic == "sync.steps" })
        #expect(said.body["head"].read(StoreHead.self)?.store == "new")
        #expect(released(rig, "steps") == AnchorVector(base: 40))
    }
}
