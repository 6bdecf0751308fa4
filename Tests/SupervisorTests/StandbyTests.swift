import Glibc
import Processes
import Supervisor
import Testing

/// Two processes for one place: whichever dies, and whenever, one of them is always running, but never both.
@Suite struct StandbyTests {
    static let next = ProcessSpec(name: "observer (standby)", executable: "/bin/true", arguments: ["--wait"], group: 1)
    static let settled = ProcessSpec(
        name: "observer", executable: "/bin/false", argumentsOnceReady: ["--again"], group: 1, readyWithin: .seconds(5))

    /// hub, observer, debouncer and uploader are ready, and a second process stands by for the observer.
    static func standing() throws -> TreeDriver {
        var driver = try SupervisionTreeTests.running()
        let actions = driver.send(.standBy(next, becoming: settled))
        #expect(TreeDriver.spawned(actions) == [next.name])
        return driver
    }

    private func signals(_ actions: [SupervisionTree.Action]) -> [String] {
        actions.compactMap { if case .signal(let name, SIGUSR1) = $0 { name } else { nil } }
    }

    @Test func theSecondIsAskedOnlyWhenTheFirstHasEnded() throws {
        var driver = try Self.standing()
        #expect(driver.state(Self.next.name) == .standby && driver.state("observer") == .ready)
        let pid = try #require(driver.status(Self.next.name)?.pid)
        // Messages that the second process sends before it is asked to start change nothing.
        driver.send(.ready(name: Self.next.name))
        #expect(driver.state(Self.next.name) == .standby)

        let asked = driver.send(.promote(name: Self.next.name, within: .seconds(3)))
        #expect(TreeDriver.terminated(asked) == ["observer"] && signals(asked) == [])
        driver.now += .milliseconds(5)
        let freed = driver.send(.exited(name: "observer", status: .code(0)))
        #expect(signals(freed) == [Self.next.name] && TreeDriver.spawned(freed) == [])
        #expect(driver.tree.nextDeadline == driver.now + .seconds(3))
        driver.now += .milliseconds(40)
        let taken = driver.send(.ready(name: Self.next.name))
        #expect(taken.first == .rename(Self.next.name, to: "observer"))
        #expect(taken.last == .report(.tookPlace(place: "observer", pid: pid, after: .milliseconds(40))))
        #expect(driver.state("observer") == .ready && driver.status("observer")?.pid == pid)
        #expect(driver.status(Self.next.name) == nil && driver.tree.nextDeadline == nil)
        // From now on it is a process like any other.
        let died = driver.send(.exited(name: "observer", status: .signal(SIGKILL)))
        #expect(TreeDriver.spawned(died) == [])
        var again = Self.settled
        again.arguments = ["--again"]
        #expect(driver.advance(by: .seconds(1)).contains(.spawn(again)))
    }

    @Test func theFirstComesBackWhenTheSecondIsLate() throws {
        var driver = try Self.standing()
        driver.send(.promote(name: Self.next.name, within: .seconds(3)))
        driver.send(.exited(name: "observer", status: .code(0)))
        #expect(driver.advance(by: .milliseconds(2999)) == [])
        #expect(TreeDriver.killed(driver.advance(by: .milliseconds(1))) == [Self.next.name])
        // It is too late: the process is already being stopped.
        #expect(driver.send(.ready(name: Self.next.name)) == [])
        let ended = driver.send(.exited(name: Self.next.name, status: .signal(SIGKILL)))
        #expect(TreeDriver.spawned(ended) == ["observer"])
        driver.send(.ready(name: "observer"))
        #expect(driver.state("observer") == .ready && driver.status(Self.next.name) == nil)
        #expect(driver.status("observer")?.restarts == 1)
    }

    /// The second process dies, at each stage of its life.
    @Test(arguments: 0..<3) func theSecondDies(_ moment: Int) throws {
        var driver = try Self.standing()
        if moment > 0 { driver.send(.promote(name: Self.next.name, within: .seconds(3))) }
        if moment > 1 { driver.send(.exited(name: "observer", status: .code(0))) }
        let ended = driver.send(.exited(name: Self.next.name, status: .signal(SIGKILL)))
        let why = "signal 9 (Killed)"
        #expect(ended.contains(.report(.standbyEnded(name: Self.next.name, place: "observer", why: why))))
        #expect(TreeDriver.spawned(ended) == (moment > 1 ? ["observer"] : []))
        if moment == 1 {
            let freed = driver.send(.exited(name: "observer", status: .code(0)))
            #expect(TreeDriver.spawned(freed) == ["observer"])
        }
        if moment > 0 { driver.send(.ready(name: "observer")) }
        #expect(driver.state("observer") == .ready && driver.tree.nextDeadline == nil)
    }

    /// The first process is killed while the second one waits, or while the first one drains.
    @Test func theFirstDies() throws {
        var driver = try Self.standing()
        driver.send(.exited(name: "observer", status: .signal(SIGKILL)))
        #expect(driver.state("observer") == .backoff && driver.state(Self.next.name) == .standby)
        // There is no running process to wait for.
        let asked = driver.send(.promote(name: Self.next.name, within: .seconds(3)))
        #expect(signals(asked) == [Self.next.name])
        #expect(driver.advance(by: .seconds(1)) == [])
        driver.send(.ready(name: Self.next.name))
        #expect(driver.state("observer") == .ready)

        driver = try Self.standing()
        driver.send(.promote(name: Self.next.name, within: .seconds(3)))
        #expect(signals(driver.send(.exited(name: "observer", status: .signal(SIGKILL)))) == [Self.next.name])
    }

    @Test func oneThatHangsIsKilledAndMakesRoom() throws {
        var driver = try Self.standing()
        driver.send(.promote(name: Self.next.name, within: .seconds(3)))
        #expect(TreeDriver.killed(driver.advance(by: .seconds(10))) == ["observer"])
        #expect(signals(driver.send(.exited(name: "observer", status: .signal(SIGKILL)))) == [Self.next.name])
    }

    @Test func oneThatIsSentAwayLeavesTheOtherAlone() throws {
        var driver = try Self.standing()
        #expect(TreeDriver.terminated(driver.send(.stopProcess(name: Self.next.name))) == [Self.next.name])
        let ended = driver.send(.exited(name: Self.next.name, status: .code(0)))
        let why = "exit code 0"
        #expect(
            ended.contains(
                .report(.standbyEnded(name: Self.next.name, place: "observer", why: why, wasDismissed: true))))
        #expect(driver.status(Self.next.name) == nil && driver.state("observer") == .ready)
        #expect(driver.send(.promote(name: Self.next.name, within: .seconds(1))) == [])
    }

    @Test func onlyOneStandsByAndOnlyWhileAllRuns() throws {
        var driver = try Self.standing()
        for spec in [Self.next, ProcessSpec(name: "other", executable: "/bin/true")] {
            let actions = driver.send(.standBy(spec, becoming: Self.settled))
            #expect(TreeDriver.spawned(actions) == [] && actions.count == 1)
        }
        var early = try TreeDriver(SupervisionTreeTests.three)
        early.send(.begin)
        #expect(TreeDriver.spawned(early.send(.standBy(Self.next, becoming: Self.settled))) == [])
    }

    @Test func oneThatCannotBeStartedIsReported() throws {
        var driver = try SupervisionTreeTests.running()
        let actions = driver.send(.standBy(Self.next, becoming: Self.settled), spawnsFail: true)
        #expect(actions.last == .report(.standbyEnded(name: Self.next.name, place: "observer", why: "no")))
        #expect(driver.status(Self.next.name) == nil && driver.state("observer") == .ready)
    }

    /// Whatever is in progress, a stop ends everything and starts nothing.
    @Test(arguments: 0..<3) func stopping(_ moment: Int) throws {
        var driver = try Self.standing()
        if moment > 0 { driver.send(.promote(name: Self.next.name, within: .seconds(3))) }
        if moment > 1 { driver.send(.exited(name: "observer", status: .code(0))) }
        var spawned = TreeDriver.spawned(driver.send(.stop))
        for name in ["uploader", "debouncer", "observer", Self.next.name, "hub"] where driver.status(name)?.pid != nil {
            spawned += TreeDriver.spawned(driver.send(.exited(name: name, status: .code(0))))
        }
        #expect(driver.tree.isFinished && spawned == [])
    }

    /// A process that was ready once gets the additional arguments when restarted.
    @Test func argumentsOnceReady() throws {
        var spec = spec("steps")
        spec.argumentsOnceReady = ["--standby"]
        var driver = try TreeDriver([spec])
        #expect(driver.send(.begin).contains(.spawn(spec)))
        driver.send(.exited(name: "steps", status: .code(1)))
        #expect(driver.advance(by: .seconds(40)).contains(.spawn(spec)))
        driver.send(.ready(name: "steps"))
        driver.send(.exited(name: "steps", status: .code(1)))
        spec.arguments = ["--standby"]
        #expect(driver.advance(by: .seconds(40)).contains(.spawn(spec)))
    }
}
