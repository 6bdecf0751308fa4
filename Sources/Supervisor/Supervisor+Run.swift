import CPosix
import Glibc
import Processes
import Synchronization

extension Supervisor {
    /// Blocks SIGINT and SIGTERM in the calling thread and in those that it starts from now on, so that only the
    /// running thread is interrupted (libzmq 4.3.4 can lose a message on EINTR). Call this first in `main`.
    package static func blockSignals() { _ = changeMask(SIG_BLOCK) }

    /// Supervises until every process has ended for good; blocks the calling thread, which must not belong to the
    /// concurrency pool. If that thread ends, so do the children.
    ///
    /// - Parameter handlingSignals: The first SIGINT or SIGTERM stops everything; a second one kills everything at
    ///   once. SIGHUP and SIGPIPE are ignored.
    /// - Throws: `ProcessError` when the system refuses something that supervision needs; by then all children have
    ///   been killed.
    package func run(handlingSignals: Bool = true) throws(ProcessError) {
        var signals: Int32 = -1
        var mask = sigset_t()
        if handlingSignals {
            signals = healthbus_catch_signals()
            guard signals >= 0 else {
                throw ProcessError(.system, "can't catch signals", errorNumber: -signals)
            }
            mask = Self.changeMask(SIG_UNBLOCK)
        }
        defer {
            if handlingSignals {
                healthbus_release_signals()
                pthread_sigmask(SIG_SETMASK, &mask, nil)
            }
        }
        var loop = RunLoop(supervisor: self, signals: signals)
        try loop.run()
    }

    /// Returns the previous mask.
    private static func changeMask(_ how: Int32) -> sigset_t {
        var signals = sigset_t()
        var before = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(how, &signals, &before)
        return before
    }
}

/// The effects of one run, all on one thread.
struct RunLoop {
    let supervisor: Supervisor
    /// The descriptor on which caught signals arrive; -1 if there is none.
    let signals: Int32
    let clock = ContinuousClock()
    let origin = ContinuousClock.now
    var children: [String: ChildProcess] = [:]
    /// When each child was started.
    var startedAt: [String: Duration] = [:]
    var signalsSeen = 0

    var now: Duration { clock.now - origin }

    mutating func run() throws(ProcessError) {
        handle(.begin)
        while !supervisor.tree.withLock({ $0.isFinished }) {
            try sleep()
            for _ in 0..<takeSignals() {
                handle(signalsSeen == 0 ? .stop : .kill)
                signalsSeen += 1
            }
            for event in supervisor.takeRequests() { handle(event) }
            reap()
            askReadiness()
            handle(.tick)
        }
    }

    /// Handles an event and everything that follows from it.
    private mutating func handle(_ event: SupervisionTree.Event) {
        var events = [event]
        while !events.isEmpty {
            let event = events.removeFirst()
            let time = now
            for action in supervisor.tree.withLock({ $0.handle(event, at: time) }) {
                if let answer = perform(action) { events.append(answer) }
            }
        }
    }

    private mutating func perform(_ action: SupervisionTree.Action) -> SupervisionTree.Event? {
        switch action {
        case .spawn(let spec):
            do {
                let child = try ChildProcess(spec, trampoline: supervisor.trampoline)
                children[spec.name] = child
                startedAt[spec.name] = now
                return .started(name: spec.name, pid: child.pid)
            } catch {
                return .spawnFailed(name: spec.name, reason: error.description)
            }
        case .signal(let name, let number):
            children[name]?.signal(number)
            // The start of a standby process is counted from its promotion.
            if number == SIGUSR1 { startedAt[name] = now }
        case .kill(let name): children[name]?.kill()
        case .rename(let name, let place):
            children[place] = children.removeValue(forKey: name)
            startedAt[place] = startedAt.removeValue(forKey: name)
        case .report(let notice): supervisor.onEvent(notice)
        case .finished: break
        }
        return nil
    }

    private mutating func reap() {
        for (name, child) in children {
            guard let status = child.poll() else { continue }
            children[name] = nil
            handle(.exited(name: name, status: status))
        }
    }

    private mutating func askReadiness() {
        for status in supervisor.statuses where status.state == .starting {
            if let pid = status.pid, supervisor.isReady(status.place ?? status.name, pid) {
                handle(.ready(name: status.name))
            }
        }
    }

    private func takeSignals() -> Int {
        guard signals >= 0 else { return 0 }
        var bytes: (UInt64, UInt64) = (0, 0)
        return withUnsafeMutableBytes(of: &bytes) { max(0, read(signals, $0.baseAddress, $0.count)) }
    }

    /// Sleeps until a child ends, a signal or a request arrives, or the next deadline passes.
    private func sleep() throws(ProcessError) {
        var watched = [pollfd(fd: supervisor.wakeUp, events: Int16(POLLIN), revents: 0)]
        if signals >= 0 { watched.append(pollfd(fd: signals, events: Int16(POLLIN), revents: 0)) }
        for child in children.values {
            watched.append(pollfd(fd: child.descriptor, events: Int16(POLLIN), revents: 0))
        }
        let timeout = self.timeout?.pollMilliseconds ?? -1
        if poll(&watched, nfds_t(watched.count), timeout) < 0, errno != EINTR {
            throw ProcessError(.system, "can't wait for processes", errorNumber: errno)
        }
    }

    private var timeout: Duration? {
        let time = now
        let deadline = supervisor.tree.withLock { $0.nextDeadline }.map { max(.zero, $0 - time) }
        let looks = supervisor.statuses.lazy.filter { $0.state == .starting }.map { status -> Duration in
            // A process that takes longer than this to start is checked less often.
            time - (startedAt[status.name] ?? time) < .seconds(10) ? .milliseconds(20) : .milliseconds(500)
        }.min()
        return [deadline, looks].compactMap(\.self).min()
    }
}
