import Changelog
import Control
import HealthModel
import Monitoring
import Protocol
import Terminal
import TestSupport
import Testing

@Suite struct TopTests {
    private func beat(
        _ name: String, head: SequenceNumber, frontier: SequenceNumber, received: Int64, cpu: Int64,
        turns: (Int64, Int64),
        pid: Int = 7
    ) -> Heartbeat {
        Heartbeat(
            instance: name, plugin: name, phase: .ready, pid: pid,
            head: StoreHead(store: "s-\(name)", generation: "g", sequence: head),
            frontier: name == "observer" ? [:] : ["observer": frontier], memory: 30_000_000, cpu: cpu,
            started: 0, turns: .init(count: turns.0, busy: turns.1)
        ).saying([
            "messages": ["sent": .integer(received), "received": .integer(received), "dropped": 0, "malformed": 0]
        ])
    }

    private func sample(_ beats: [Heartbeat], age: Double = 0, at second: Int64) -> TopSample {
        let names = beats.map(\.instance)
        return TopSample(
            names: names, beats: Dictionary(uniqueKeysWithValues: beats.map { ($0.instance, ($0, age)) }),
            now: Instant(seconds: 90 * 60 + second), monotonic: .seconds(second))
    }

    @Test func ratesAreWhatChangedBetweenTwoHeartbeats() throws {
        let first = sample(
            [
                beat("observer", head: 100, frontier: 0, received: 10, cpu: 0, turns: (1, 0)),
                beat("steps", head: 50, frontier: 40, received: 10, cpu: 0, turns: (10, 1000)),
            ], at: 10)
        let second = sample(
            [
                beat("observer", head: 4100, frontier: 0, received: 30, cpu: 1_000_000, turns: (1, 0)),
                beat("steps", head: 60, frontier: 4000, received: 50, cpu: 100_000, turns: (20, 31_000)),
            ], at: 12)
        let table = TopTable(second.following(first))
        let observer = try #require(table.rows.first { $0.name == "observer" })
        #expect(observer.rows == 2000 && observer.received == 10 && observer.processor == 0.5)
        #expect(observer.turn == nil && observer.behind == nil)
        let steps = try #require(table.rows.first { $0.name == "steps" })
        #expect(steps.rows == 5 && steps.received == 20 && steps.turn == 3 && steps.behind == 100)
        #expect(steps.uptime == 5412)
        #expect(table.total.rows == 2005 && table.total.memory == 60_000_000 && table.total.behind == 100)
    }

    /// After a swap, a handler's frontier is at the beginning until every day has been computed again.
    @Test func whoeverComputesDaysAgainIsNotBehind() throws {
        let observer = beat("observer", head: 4100, frontier: 0, received: 0, cpu: 0, turns: (1, 0))
        let head = try #require(observer.head)
        let steps = beat("steps", head: 60, frontier: 0, received: 0, cpu: 0, turns: (1, 0))
        #expect(steps.lacks(of: "observer", at: head) == 4100 && steps.lacks(of: "other", at: head) == nil)
        for (reached, behind) in [(4100, 0), (4090, 10)] as [(Int64, Int64)] {
            let swapped = steps.saying(["pending": 12, "reached": ["observer": .integer(reached)]])
            let row = TopTable(sample([observer, swapped], at: 10)).rows.first { $0.name == "steps" }
            #expect(row?.behind == behind)
        }
    }

    /// For `top`, `up` and `status`, the processes of a stack are the same ones: those that its configuration names.
    @Test func theSupervisorIsShownButIsNotCounted() {
        func table(_ steps: Heartbeat.Phase) -> TopTable {
            var beats = ["observer", "steps"].map {
                beat($0, head: 1, frontier: 1, received: 1, cpu: 0, turns: (1, 0))
            }
            beats[1].phase = steps
            let supervisor = Heartbeat(instance: "supervisor", plugin: "supervisor", phase: .ready, pid: 9, memory: 5)
            return TopTable(
                TopSample(
                    names: beats.map(\.instance),
                    beats: Dictionary(uniqueKeysWithValues: (beats + [supervisor]).map { ($0.instance, ($0, 0)) }),
                    now: 0, monotonic: .seconds(1)))
        }
        let all = table(.ready)
        #expect(all.rows.map(\.name) == ["observer", "steps", "supervisor"])
        #expect(all.total.state == "2 of 2 ready" && all.total.memory == 60_000_005)
        #expect(LiveSummary.line(all, stopped: []).hasPrefix("2 of 2 ready, "))
        let one = table(.stopped)
        #expect(one.total.state == "1 of 2 ready")
        let line = LiveSummary.line(one, stopped: ["steps"])
        #expect(line.hasPrefix("1 of 2 ready, 1 stopped, ") && line.contains("nothing waiting"))
        #expect(!LiveSummary.line(one, stopped: []).contains("nothing waiting"))
    }

    @Test func aNewProcessHasNoRatesAndARepeatedHeartbeatKeepsThem() throws {
        let a = beat("steps", head: 10, frontier: 0, received: 10, cpu: 0, turns: (1, 0))
        let b = beat("steps", head: 20, frontier: 0, received: 20, cpu: 0, turns: (2, 0))
        let c = beat("steps", head: 30, frontier: 0, received: 0, cpu: 0, turns: (0, 0), pid: 8)
        let first = sample([a], at: 1)
        let second = sample([b], at: 2).following(first)
        let repeated = sample([b], age: 0.5, at: 3).following(second)
        #expect(TopTable(second).rows.first?.rows == 10)
        #expect(TopTable(repeated).rows.first?.rows == 10)
        let restarted = sample([c], at: 4).following(repeated)
        let row = try #require(TopTable(restarted).rows.first)
        #expect(row.rows == nil && row.received == nil && row.processor == nil && row.memory == 30_000_000)
    }

    @Test func whoIsntHeardIsSilentAndShowsNoOldNumbers() throws {
        let a = beat("steps", head: 10, frontier: 0, received: 10, cpu: 0, turns: (1, 0))
        let row = try #require(TopTable(sample([a], age: 28, at: 30)).rows.first)
        #expect(row.state == "silent" && row.memory == nil && row.behind == nil)
    }

    @Test(arguments: [40, 60, 80, 120], [6, 10, 24]) func linesFitTheScreen(_ width: Int, _ height: Int) {
        let names = (1...13).map { "instance-\($0)" }
        let beats = names.map { beat($0, head: 1_234_567, frontier: 0, received: 1, cpu: 0, turns: (1, 0)) }
        let table = TopTable(sample(beats, at: 2))
        let lines = TopView(table, state: "/a/long/path/to/some/state/folder/that/goes/on/and/on/and/on/and/on/and/on")
            .lines(for: Terminal(isTerminal: true, width: width), height: height)
        #expect(lines.count <= height)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= width })
        // Processes that aren't shown are still counted.
        let shown = lines.count { $0.hasPrefix("instance-") }
        #expect(shown == 13 || lines.last == "and \(13 - shown) more")
    }

    @Test func onAScreenTooLowWhatNeedsALookComesFirst() {
        var beats = (1...10).map { beat("i\($0)", head: 1, frontier: 0, received: 1, cpu: 0, turns: (1, 0)) }
        beats[9].phase = .running
        let lines = TopView(TopTable(sample(beats, at: 2)), state: "/s")
            .lines(for: Terminal(isTerminal: true, width: 80), height: 8)
        #expect(lines.contains { $0.hasPrefix("i10") && $0.contains("running") })
    }
}
