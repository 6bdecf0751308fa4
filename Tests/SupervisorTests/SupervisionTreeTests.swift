import Glibc
import Processes
import Supervisor
import Testing

@Suite struct SupervisionTreeTests {
    static let three = [
        spec("uploader", group: 2), spec("hub"), spec("observer", group: 1), spec("debouncer", group: 1),
    ]

    /// hub, observer and debouncer, and uploader, all ready.
    static func running() throws -> TreeDriver {
        var driver = try TreeDriver(three)
        driver.send(.begin)
        for name in ["hub", "observer", "debouncer", "uploader"] { driver.send(.ready(name: name)) }
        return driver
    }

    @Test func refusesTwoOfOneName() {
        #expect(throws: ProcessError.self) { try SupervisionTree([spec("hub"), spec("hub")]) }
    }

    @Test func groupsStartInOrderEachWhenTheOneBeforeIsReady() throws {
        var driver = try TreeDriver(Self.three)
        #expect(TreeDriver.spawned(driver.send(.begin)) == ["hub"])
        #expect(driver.state("observer") == .waiting)
        #expect(TreeDriver.spawned(driver.send(.ready(name: "hub"))) == ["observer", "debouncer"])
        #expect(TreeDriver.spawned(driver.send(.ready(name: "debouncer"))) == [])
        #expect(TreeDriver.spawned(driver.send(.ready(name: "observer"))) == ["uploader"])
        #expect(driver.state("uploader") == .starting)
        driver.send(.ready(name: "uploader"))
        #expect(driver.tree.statuses.allSatisfy { $0.state == .ready && $0.pid != nil && $0.restarts == 0 })
        #expect(driver.tree.nextDeadline == nil)
    }

    @Test func aGroupThatIsLateIsReportedOnceAndPassed() throws {
        var driver = try TreeDriver(Self.three)
        driver.send(.begin)
        #expect(driver.tree.nextDeadline == .seconds(5))
        #expect(driver.advance(by: .milliseconds(4999)) == [])
        let actions = driver.advance(by: .milliseconds(1))
        #expect(actions.contains(.report(.notReady(name: "hub", after: .seconds(5)))))
        #expect(TreeDriver.spawned(actions) == ["observer", "debouncer"])
        #expect(driver.advance(by: .milliseconds(1)) == [])
        // The process may still become ready.
        driver.send(.ready(name: "hub"))
        #expect(driver.state("hub") == .ready)
    }

    @Test func aProcessThatEndsForGoodHoldsNobodyUp() throws {
        var driver = try TreeDriver([spec("migrate", RestartPolicy(.never)), spec("hub", group: 1)])
        driver.send(.begin)
        let actions = driver.send(.exited(name: "migrate", status: .code(0)))
        #expect(TreeDriver.spawned(actions) == ["hub"])
        #expect(driver.state("migrate") == .stopped)
    }

    @Test func restartsWithRisingDelaysAndForgetsFailuresAfterAHealthyTime() throws {
        let policy = RestartPolicy(base: .seconds(1), longest: .seconds(60), healthyAfter: .seconds(10))
        var steps = spec("steps", policy)
        // Nothing else becomes due in the meantime.
        steps.readyWithin = .seconds(1000)
        var driver = try TreeDriver([steps])
        driver.send(.begin)
        for (failure, delay) in [(1, 1), (2, 2), (3, 4)] {
            let actions = driver.send(.exited(name: "steps", status: .signal(SIGKILL)))
            #expect(actions.contains(.report(.exited(name: "steps", status: .signal(SIGKILL), failures: failure))))
            #expect(driver.state("steps") == .backoff)
            #expect(driver.status("steps")?.pid == nil)
            let deadline = try #require(driver.tree.nextDeadline)
            #expect(abs((deadline - driver.now) / .seconds(1) - Double(delay)) < 0.001)
            #expect(TreeDriver.spawned(driver.advance(by: deadline - driver.now)) == ["steps"])
            #expect(driver.status("steps")?.restarts == failure)
        }
        driver.send(.ready(name: "steps"))
        _ = driver.advance(by: .seconds(10))
        let actions = driver.send(.exited(name: "steps", status: .code(1)))
        #expect(actions.contains(.report(.exited(name: "steps", status: .code(1), failures: 1))))
        #expect(driver.status("steps")?.lastExit == .code(1))
    }

    @Test func longStartingIsNotHealthy() throws {
        var driver = try TreeDriver([spec("steps")])
        driver.send(.begin)
        driver.send(.exited(name: "steps", status: .code(1)))
        _ = driver.advance(by: .seconds(1))
        _ = driver.advance(by: .seconds(1000))
        let actions = driver.send(.exited(name: "steps", status: .code(1)))
        #expect(actions.contains(.report(.exited(name: "steps", status: .code(1), failures: 2))))
    }

    @Test func neverStaysDown() throws {
        var driver = try TreeDriver([spec("a", RestartPolicy(.never)), spec("b", RestartPolicy(.never)), spec("c")])
        driver.send(.begin)
        driver.send(.exited(name: "a", status: .code(0)))
        driver.send(.exited(name: "b", status: .code(3)))
        #expect(driver.state("a") == .stopped)
        #expect(driver.state("b") == .failed)
        #expect(TreeDriver.spawned(driver.advance(by: .seconds(100))) == [])
    }

    @Test func onFailureStaysDownOnlyAfterSuccess() throws {
        var driver = try TreeDriver([
            spec("a", RestartPolicy(.onFailure)), spec("b", RestartPolicy(.onFailure)), spec("c"),
        ])
        driver.send(.begin)
        driver.send(.exited(name: "a", status: .code(0)))
        driver.send(.exited(name: "b", status: .code(3)))
        #expect(driver.state("a") == .stopped && driver.state("b") == .backoff)
        #expect(TreeDriver.spawned(driver.advance(by: .seconds(100))) == ["b"])
    }

    @Test func finishesWhenEveryProcessHasEndedForGood() throws {
        var driver = try TreeDriver([spec("a", RestartPolicy(.never))])
        driver.send(.begin)
        #expect(driver.send(.exited(name: "a", status: .code(0))).last == .finished)
        #expect(driver.tree.isFinished)
    }

    @Test func givesUpWhereAskedTo() throws {
        var driver = try TreeDriver([spec("steps", RestartPolicy(giveUpAfter: 2)), spec("hub")])
        driver.send(.begin)
        driver.send(.exited(name: "steps", status: .code(1)))
        _ = driver.advance(by: .seconds(1))
        let actions = driver.send(.exited(name: "steps", status: .code(1)))
        #expect(actions.contains(.report(.gaveUp(name: "steps", failures: 2))))
        #expect(driver.state("steps") == .failed)
        // A person may still start it.
        #expect(TreeDriver.spawned(driver.send(.startProcess(name: "steps"))) == ["steps"])
    }

    @Test func aStartThatFailsIsTriedAgain() throws {
        var driver = try TreeDriver([spec("steps")])
        let actions = driver.send(.begin, spawnsFail: true)
        #expect(actions.contains(.report(.startFailed(name: "steps", reason: "no"))))
        #expect(driver.state("steps") == .backoff)
        #expect(TreeDriver.spawned(driver.advance(by: .seconds(1))) == ["steps"])
        #expect(driver.state("steps") == .starting)
        #expect(driver.status("steps")?.restarts == 0)
    }

    @Test func stopsInReverseOrder() throws {
        var driver = try Self.running()
        #expect(TreeDriver.terminated(driver.send(.stop)) == ["uploader"])
        #expect(driver.state("uploader") == .stopping)
        let middle = driver.send(.exited(name: "uploader", status: .code(0)))
        #expect(TreeDriver.terminated(middle) == ["observer", "debouncer"])
        #expect(TreeDriver.terminated(driver.send(.exited(name: "observer", status: .code(0)))) == [])
        #expect(TreeDriver.terminated(driver.send(.exited(name: "debouncer", status: .code(0)))) == ["hub"])
        #expect(driver.send(.exited(name: "hub", status: .code(0))).last == .finished)
        #expect(driver.tree.statuses.allSatisfy { $0.state == .stopped && $0.pid == nil })
        #expect(TreeDriver.spawned(driver.advance(by: .seconds(100))) == [])
    }

    @Test func aPausedProcessIsWokenToStop() throws {
        var driver = try TreeDriver([spec("hub")])
        driver.send(.begin)
        let signals = driver.send(.stop).filter { if case .signal = $0 { true } else { false } }
        #expect(signals == [.signal(name: "hub", number: SIGTERM), .signal(name: "hub", number: SIGCONT)])
    }

    @Test func killsWhatDoesNotStopInTime() throws {
        var driver = try Self.running()
        driver.send(.stop)
        #expect(driver.tree.nextDeadline == .seconds(10))
        #expect(TreeDriver.killed(driver.advance(by: .milliseconds(9999))) == [])
        let actions = driver.advance(by: .milliseconds(1))
        #expect(TreeDriver.killed(actions) == ["uploader"])
        #expect(actions.contains(.report(.killed(name: "uploader"))))
        #expect(TreeDriver.killed(driver.advance(by: .seconds(1))) == [])
        let next = driver.send(.exited(name: "uploader", status: .signal(SIGKILL)))
        #expect(TreeDriver.terminated(next) == ["observer", "debouncer"])
    }

    @Test func aSecondStopKillsAllAtOnce() throws {
        var driver = try Self.running()
        driver.send(.stop)
        #expect(Set(TreeDriver.killed(driver.send(.kill))) == ["uploader", "hub", "observer", "debouncer"])
        for name in ["hub", "observer", "uploader"] { driver.send(.exited(name: name, status: .signal(SIGKILL))) }
        #expect(!driver.tree.isFinished)
        #expect(driver.send(.exited(name: "debouncer", status: .signal(SIGKILL))).last == .finished)
        #expect(TreeDriver.terminated(driver.log) == ["uploader"])
    }

    @Test func stopEndsWaitingAndBackoffWithoutStartingThem() throws {
        var driver = try TreeDriver(Self.three)
        driver.send(.begin)
        driver.send(.exited(name: "hub", status: .code(1)))
        #expect(driver.send(.stop).last == .finished)
        #expect(driver.tree.statuses.allSatisfy { $0.state == .stopped })
        #expect(driver.tree.nextDeadline == nil)
    }

    @Test func aProcessThatCrashesWhileAllStopStaysDown() throws {
        var driver = try Self.running()
        driver.send(.stop)
        let actions = driver.send(.exited(name: "hub", status: .signal(SIGSEGV)))
        #expect(TreeDriver.spawned(actions) == [])
        #expect(driver.state("hub") == .failed)
    }

    @Test func oneProcessStopsStaysDownAndStartsAgain() throws {
        var driver = try Self.running()
        #expect(TreeDriver.terminated(driver.send(.stopProcess(name: "observer"))) == ["observer"])
        #expect(TreeDriver.spawned(driver.send(.exited(name: "observer", status: .code(0)))) == [])
        #expect(TreeDriver.spawned(driver.advance(by: .seconds(100))) == [])
        #expect(driver.state("observer") == .stopped)
        #expect(TreeDriver.spawned(driver.send(.startProcess(name: "observer"))) == ["observer"])
    }

    /// This is as if the supervisor had started with a configuration that keeps a process down.
    @Test func whatIsHeldFromTheStartStaysDownAndHoldsNobodyUp() throws {
        var driver = try TreeDriver(
            [spec("hub"), spec("observer", group: 1), spec("steps", group: 2)], held: ["observer"])
        #expect(TreeDriver.spawned(driver.send(.begin)) == ["hub"])
        #expect(TreeDriver.spawned(driver.send(.ready(name: "hub"))) == ["steps"])
        #expect(TreeDriver.spawned(driver.advance(by: .seconds(100))) == [])
        #expect(driver.state("observer") == .stopped)
        #expect(TreeDriver.spawned(driver.send(.startProcess(name: "observer"))) == ["observer"])

        var alone = try TreeDriver([spec("observer")], held: ["observer"])
        alone.send(.begin)
        #expect(!alone.tree.isFinished)
        alone.send(.stop)
        #expect(alone.tree.isFinished)
    }

    @Test func stoppingEachByHandDoesNotEndTheSupervisor() throws {
        var driver = try TreeDriver([spec("hub")])
        driver.send(.begin)
        driver.send(.stopProcess(name: "hub"))
        driver.send(.exited(name: "hub", status: .code(0)))
        #expect(!driver.tree.isFinished)
    }

    @Test func replaceEndsTheOldAndStartsTheNew() throws {
        var driver = try Self.running()
        var new = spec("observer", group: 1)
        new.executable = "/usr/bin/python3"
        #expect(TreeDriver.terminated(driver.send(.replace(new))) == ["observer"])
        let actions = driver.send(.exited(name: "observer", status: .code(0)))
        #expect(actions.contains(.spawn(new)))
        #expect(driver.state("observer") == .starting)
        // From now on, restarts use the new program.
        driver.send(.exited(name: "observer", status: .code(1)))
        #expect(driver.advance(by: .seconds(1)).contains(.spawn(new)))
    }

    @Test func replaceAddsANewOne() throws {
        var driver = try Self.running()
        #expect(TreeDriver.spawned(driver.send(.replace(spec("steps", group: 1)))) == ["steps"])
        #expect(driver.tree.statuses.count == 5)
    }

    @Test func aReplacementDoesNotStartOnceAllStop() throws {
        var driver = try Self.running()
        driver.send(.replace(spec("observer", group: 1)))
        driver.send(.stop)
        #expect(TreeDriver.spawned(driver.send(.exited(name: "observer", status: .code(0)))) == [])
        #expect(driver.state("observer") == .stopped)
    }

    @Test func unknownNamesChangeNothing() throws {
        var driver = try Self.running()
        let before = driver.tree.statuses
        driver.send(.exited(name: "nobody", status: .code(1)))
        driver.send(.stopProcess(name: "nobody"))
        #expect(driver.tree.statuses == before)
    }

    /// Whatever happens, in any order: a process that has ended is never signalled, and a stop always finishes.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func randomLivesEnd(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        var driver = try TreeDriver(Self.three)
        driver.send(.begin)
        func checked(_ actions: [SupervisionTree.Action], alive: [String]) {
            for name in TreeDriver.terminated(actions) + TreeDriver.killed(actions) { #expect(alive.contains(name)) }
        }
        for _ in 0..<200 {
            driver.now += .milliseconds(Int.random(in: 0...3000, using: &random))
            let name = Self.three[Int.random(in: 0..<4, using: &random)].name
            let alive = driver.tree.statuses.filter { $0.pid != nil }.map(\.name)
            let events: [SupervisionTree.Event] = [
                .tick, .ready(name: name), .exited(name: name, status: .code(1)), .stopProcess(name: name),
                .startProcess(name: name), .replace(spec(name, group: 1)),
            ]
            let event = events[Int.random(in: 0..<events.count, using: &random)]
            if case .exited = event, !alive.contains(name) { continue }
            checked(driver.send(event, spawnsFail: Bool.random(using: &random)), alive: alive)
        }
        driver.send(.stop)
        var steps = 0
        while !driver.tree.isFinished, steps < 100 {
            steps += 1
            for status in driver.tree.statuses where status.state == .stopping && Bool.random(using: &random) {
                driver.send(.exited(name: status.name, status: .code(0)))
            }
            _ = driver.advance(by: .seconds(11))
        }
        #expect(driver.tree.isFinished)
        #expect(driver.tree.statuses.allSatisfy { $0.pid == nil })
    }
}
