import Glibc
import Processes
import Supervisor

/// Drives a tree like the real loop, but with a clock and processes that the test controls.
struct TreeDriver {
    var tree: SupervisionTree
    var now: Duration = .zero
    var log: [SupervisionTree.Action] = []
    private var nextPid: pid_t = 100

    init(_ specs: [ProcessSpec], held: Set<String> = []) throws {
        tree = try SupervisionTree(specs, held: held, generator: ConstantGenerator(word: .max))
    }

    /// Returns all actions that the event led to, and reports each spawn back to the tree.
    @discardableResult
    mutating func send(_ event: SupervisionTree.Event, spawnsFail: Bool = false) -> [SupervisionTree.Action] {
        var events = [event]
        var all: [SupervisionTree.Action] = []
        while !events.isEmpty {
            let actions = tree.handle(events.removeFirst(), at: now)
            all += actions
            for case .spawn(let spec) in actions {
                nextPid += 1
                events.append(
                    spawnsFail ? .spawnFailed(name: spec.name, reason: "no") : .started(name: spec.name, pid: nextPid))
            }
        }
        log += all
        return all
    }

    mutating func advance(by step: Duration) -> [SupervisionTree.Action] {
        now += step
        return send(.tick)
    }

    func state(_ name: String) -> ProcessState? { status(name)?.state }
    func status(_ name: String) -> ProcessStatus? { tree.statuses.first { $0.name == name } }

    static func spawned(_ actions: [SupervisionTree.Action]) -> [String] {
        actions.compactMap { if case .spawn(let spec) = $0 { spec.name } else { nil } }
    }

    static func terminated(_ actions: [SupervisionTree.Action]) -> [String] {
        actions.compactMap { if case .signal(let name, SIGTERM) = $0 { name } else { nil } }
    }

    static func killed(_ actions: [SupervisionTree.Action]) -> [String] {
        actions.compactMap { if case .kill(let name) = $0 { name } else { nil } }
    }
}

func spec(_ name: String, group: Int = 0, _ restart: RestartPolicy = RestartPolicy()) -> ProcessSpec {
    ProcessSpec(name: name, executable: "/bin/true", group: group, restart: restart, readyWithin: .seconds(5))
}

/// Sebastiano Vigna's SplitMix64: a seed gives the same numbers everywhere.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
