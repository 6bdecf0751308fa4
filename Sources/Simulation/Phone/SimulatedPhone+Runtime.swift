import BackgroundDelivery
import HealthModel
import Protocol

/// A stretch of time that the app is given in the background.
struct BackgroundRun {
    var number: Int
    var began: Instant
    /// The app was started for it, and is ended with it if it overruns.
    var endsProcess: Bool
}

extension SimulatedPhone {
    /// The app has done what it was woken for when nothing has been committed or sent for this long.
    private static let quiet = Duration.milliseconds(2500)
    private static let look = Duration.milliseconds(250)

    func startApp() throws {
        for host in app where !host.isRunning { try host.start() }
        for host in app where host.isSuspended { host.resume() }
        observer.rouse()
    }

    func suspendApp() { for host in app { host.suspend() } }

    func endApp(_ state: DeviceState.AppState) {
        endRun()
        for host in app { host.crash() }
        device.app = state
        tell()
        planDelivery()
    }

    func openApp() throws {
        endRun()
        device.app = .active
        device.isLocked = false
        try startApp()
        tell()
        hasChange = false
        if strategy == .naive { naive.wake(at: now, isOnline: isOnline) }
    }

    func closeApp() throws {
        guard device.app == .active else { return }
        device.app = .background
        device.isDeferring = true
        tell()
        guard strategy != .naive else { return }
        // The few seconds that iOS leaves an app to finish its work.
        run = BackgroundRun(number: nextRun(), began: now, endsProcess: false)
        world.lastWork = world.monotonic
        watch(runs, until: now + .seconds(5))
    }

    /// Gives the app time.
    func wake(_ kind: WakeKind) throws {
        guard device.app == .background || device.app == .terminated, run == nil else { return }
        wakes += 1
        if kind == .delivery { deliveriesLeft -= 1 }
        hasChange = false
        guard strategy != .naive else { return naive.wake(at: now, isOnline: isOnline) }
        run = BackgroundRun(number: nextRun(), began: now, endsProcess: device.app == .terminated)
        device.app = .background
        device.isDeferring = false
        try startApp()
        tell()
        if kind != .delivery { askForSync("\(kind.rawValue)-\(runs)") }
        world.lastWork = world.monotonic
        watch(runs, until: now + .microseconds(Int64((model.runSeconds[kind] ?? 0) * 1_000_000)))
    }

    /// What an app does in a wake without a message: it syncs. Repeated each second, like every command.
    private func askForSync(_ id: String) {
        guard let run, run.number == runs else { return }
        world.send("control.debouncer", .object(SyncNow(id: id).body), from: "app")
        let number = run.number
        at(now + .seconds(1)) { [unowned self] in if self.run?.number == number { askForSync(id) } }
    }

    private func nextRun() -> Int {
        runs += 1
        return runs
    }

    /// Ends a run when the app is done, or when its time is over.
    private func watch(_ number: Int, until deadline: Instant) {
        at(min(deadline, now + Self.look)) { [unowned self] in
            guard let run, run.number == number else { return }
            if now >= deadline || world.monotonic - world.lastWork >= Self.quiet { return endRun() }
            watch(number, until: deadline)
        }
    }

    func endRun() {
        guard let ended = run else { return }
        run = nil
        runTime += now - ended.began
        if ended.endsProcess {
            for host in app { host.crash() }
            device.app = .terminated
        } else {
            suspendApp()
        }
        device.isDeferring = true
        tell()
        planDelivery()
    }
}
