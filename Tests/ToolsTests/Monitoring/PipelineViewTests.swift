import Configuration
import HealthModel
import MessageBus
import Monitoring
import Protocol
import TestSupport
import Testing

/// What stands out in the graph of processes, and what doesn't.
@Suite struct PipelineViewTests {
    private let stack: StackConfiguration

    init() throws { stack = try StackConfiguration(path: nil, catalog: try .standard()) }

    private let names = ["hub", "steps", "sleep"]

    /// - Parameters:
    ///   - unanswered: for processes that don't answer, how long their oldest question has been open.
    ///   - restarts: how often `sleep` has been restarted; its current run began two seconds ago.
    private func view(
        unanswered: [String: Double] = [:], age: Double = 0.1, restarts: Int = 0, after old: PipelineView? = nil
    ) -> PipelineView {
        let now = Instant(seconds: 1000)
        var beats = Dictionary(
            uniqueKeysWithValues: names.map { name in
                let beat = Heartbeat(
                    instance: name, plugin: name, phase: .ready, pid: 7,
                    started: now - .seconds(name == "sleep" ? 2 : 500))
                return (name, (beat: beat, age: age))
            })
        let processes = names.map {
            SupervisorDetails.Process(
                name: $0, state: "ready", pid: 7, restarts: $0 == "sleep" ? restarts : 0, lastExit: nil)
        }
        let supervisor = Heartbeat(
            instance: "supervisor", plugin: "supervisor", phase: .ready, pid: 1,
            details: HeartbeatDetails(SupervisorDetails(processes: processes, swaps: [])))
        beats["supervisor"] = (supervisor, 0.1)
        let sample = TopSample(names: names, beats: beats, now: now, monotonic: .seconds(1000))
        return PipelineView(stack, sample, beats, unanswered: unanswered, after: old)
    }

    private func states(_ view: PipelineView) -> [PipelineView.Node.State] { view.nodes.prefix(3).map(\.state) }

    @Test func whoLeavesQuestionsUnansweredHangs() {
        #expect(states(view(unanswered: ["steps": 1.1])) == [.ready, .hanging, .ready])
        // A single answer that is late doesn't count as missed.
        #expect(states(view(unanswered: ["steps": 0.6])) == [.ready, .ready, .ready])
    }

    /// The hub doesn't answer questions: it hangs only once it has missed its reports.
    @Test func whoWasntAskedDoesntHang() {
        #expect(states(view(age: Repetition.quiet.seconds + 1)) == [.ready, .ready, .ready])
        #expect(states(view(age: Repetition.silence.seconds + 1)) == [.hanging, .ready, .ready])
    }

    @Test func whoWasRestartedSaysSince() {
        let before = view()
        #expect(before.nodes.allSatisfy { $0.restarted == nil })
        let after = view(restarts: 1, after: before)
        #expect(after.nodes.first { $0.row.name == "sleep" }?.restarted == Instant(seconds: 998))
        #expect(!after.isLike(before) && after.isLike(view(restarts: 1)))
        #expect(!view(unanswered: ["steps": 1.1]).isLike(before))
    }
}
