import BackgroundDelivery
import HealthModel

/// A stretch of time that the app is given in the background.
struct BackgroundRun {
    var number: Int
    /// nil for an app that has just left the screen and is finishing its work.
    var kind: WakeKind?
    var began: Instant
}

/// The system's decisions about which wakes there are, and when.
extension Phone {
    /// Every five minutes.
    func decide() throws {
        let mood = mood
        for kind in strategy.wakes {
            decisions.budgets[kind]?.refill(at: now, willingness: mood.willingness(kind, model))
        }
        decisions.notifications.refill(at: now, willingness: 1)
        try considerDelivery()
        try considerRefresh()
        try considerProcessing()
        try sendPush()
    }

    private func mayRun(_ kind: WakeKind) -> Bool {
        canWake && strategy.wakes.contains(kind) && (kind == .delivery || !device.isLowPowerMode)
    }

    // MARK: Background delivery

    /// Plans a wake for a change; all types that change before this wake share it.
    /// - Parameter isImmediate: whether the change is of a type that isn't held back, that is, one whose samples are
    ///   written seldom and as a whole.
    func planDelivery(isImmediate: Bool) {
        guard strategy.wakes.contains(.delivery), device.app != .forceQuit, decisions.deliveryStopped == nil else {
            return
        }
        if decisions.deliveryDue != nil, !isImmediate { return }
        let will = mood.willingness(.delivery, model)
        let isTerminated = device.app == .terminated
        let delay = decisions.draw(.delivery, at: now) {
            model.deliveryDelay(afterTermination: isTerminated, isImmediate: isImmediate, willingness: will, using: &$0)
        }
        var due = now + delay
        if !isImmediate, decisions.lastDelivery > .distantPast {
            due = max(due, decisions.lastDelivery + model.minutes(.deliverySpacingMinutes))
        }
        decisions.deliveryDue = min(due, decisions.deliveryDue ?? due)
        if isImmediate { decisions.isDeliveryImmediate = true }
        at(due) { [unowned self] in try considerDelivery() }
    }

    /// Wakes the app when the time has come and the data can be read; if it can't be read yet, wakes the app at the
    /// unlock.
    func considerDelivery() throws {
        guard let due = decisions.deliveryDue, due <= now, mayRun(.delivery), !device.isLocked,
            decisions.deliveryStopped == nil,
            decisions.spend(.delivery, inAdvance: decisions.isDeliveryImmediate ? model[.immediateInAdvance] : 0)
        else { return }
        decisions.lastDelivery = now
        try wake(.delivery)
        if strategy == .notify, decisions.notifications.spend() { decisions.hasNotification = true }
    }

    /// A delivery's time ran out before the app completed it: the system tries again later and later, and then gives
    /// up.
    private func strike() {
        decisions.strikes += 1
        guard decisions.strikes < Int(model[.strikesUntilStopped]) else {
            decisions.deliveryStopped = now
            return decisions.forgetDelivery()
        }
        let due = now + model.minutes(.strikeBackOffMinutes) * (1 << min(decisions.strikes - 1, 20))
        decisions.deliveryDue = due
        at(due) { [unowned self] in try considerDelivery() }
    }

    /// The person sees the notification when they pick up the phone, and may or may not open the app.
    func considerNotification() throws {
        guard decisions.hasNotification, probe.app == nil else { return }
        decisions.hasNotification = false
        let isOpened = decisions.draw(.push, at: now) { $0.chance(model[.notificationOpens]) }
        guard isOpened else { return }
        at(now + .seconds(5)) { [unowned self] in
            guard isInUse, !isBooting else { return }
            try openApp()
            try app.deviceChanged()
            at(now + model.seconds(.openSeconds)) { [unowned self] in
                try closeApp()
                try app.deviceChanged()
            }
        }
    }

    // MARK: App refresh and processing

    private func considerRefresh() throws {
        guard mayRun(.refresh), now >= decisions.nextRefresh, isOnline,
            isInUse || (lastUse > .distantPast && now - lastUse <= model.minutes(.refreshAfterUseMinutes)),
            decisions.draw(.refresh, at: now, { $0.chance(model[.refreshChance]) }), decisions.spend(.refresh)
        else { return }
        // The debouncer counts from the start of the task, which is a little later.
        decisions.nextRefresh = now + model.minutes(.refreshEarliestMinutes) + .seconds(5)
        try wake(.refresh)
    }

    private func considerProcessing() throws {
        let chance = model[device.isCharging ? .processingChance : .processingBatteryChance]
        guard mayRun(.processing), now >= decisions.nextProcessing, isOnline, !isInUse,
            lastUse > .distantPast, now - lastUse >= model.minutes(.processingIdleMinutes),
            wasOpened(within: .processingAfterUseDays),
            decisions.draw(.processing, at: now, { $0.chance(chance) }), decisions.spend(.processing)
        else { return }
        decisions.nextProcessing = now + model.hours(.processingEarliestHours) + .seconds(5)
        try wake(.processing)
    }

    // MARK: Silent push

    /// The backend sends as many pushes as it may, knowing nothing of the phone; an unreachable phone gets the newest
    /// one later.
    private func sendPush() throws {
        guard strategy.wakes.contains(.push), now >= decisions.nextPush else { return }
        decisions.nextPush = now + .microseconds(Int64(3600e6 / max(0.1, model[.pushesPerHour])))
        guard device.app != .forceQuit else { return }
        let isIdle = !isInUse && (lastUse == .distantPast || now - lastUse > model.minutes(.pushIdleMinutes))
        decisions.heldPush = true
        if isOnline, !isIdle { try considerPush() }
    }

    /// A push that has arrived wakes the app, or is dropped.
    func considerPush() throws {
        guard decisions.heldPush, isOnline else { return }
        decisions.heldPush = false
        guard mayRun(.push), wasOpened(within: .pushAfterUseDays),
            decisions.draw(.push, at: now, { $0.chance(model[.pushPasses]) }), decisions.spend(.push)
        else {
            return
        }
        try wake(.push)
    }

    // MARK: Runs

    /// Gives the app time.
    private func wake(_ kind: WakeKind) throws {
        if !isFaultless {
            wakes += 1
            if !device.isCharging { wakesOnBattery += 1 }
            wakesByHour[book.hour(of: now)] += 1
        }
        device.app = .background
        device.isDeferring = false
        if !device.isLocked { decisions.forgetDelivery() }
        begin(kind, for: .microseconds(Int64(model.runSeconds(kind) * 1e6)))
        try app.wake(kind)
    }

    /// - Parameter limit: when the run is cut short; a woken app is then terminated, and one that has just left the
    ///   screen is suspended.
    func begin(_ kind: WakeKind?, for limit: Duration) {
        runs += 1
        run = BackgroundRun(number: runs, kind: kind, began: now)
        at(now + limit) { [unowned self, runs] in
            guard run?.number == runs else { return }
            guard let kind else { return try suspend() }
            try endApp(.terminated)
            if kind == .delivery { strike() }
        }
    }

    /// The app is done, and says so unless that is what it forgets.
    func endRun() throws {
        if run?.kind == .delivery {
            guard strategy != .noCompletion else { return }
            decisions.strikes = 0
        }
        try suspend()
    }

    /// Ends the present run after the time that a run usually takes.
    func endRunAsUsual() {
        at(now + model.seconds(.usualSeconds)) { [unowned self, runs] in
            if run?.number == runs { try endRun() }
        }
    }

    private func suspend() throws {
        guard run != nil else { return }
        stopRun()
        device.isDeferring = true
        try app.rest()
    }

    /// Ends the run, and counts it.
    func stopRun() {
        guard let ended = run else { return }
        run = nil
        if !isFaultless, ended.kind != nil { runTime += now - ended.began }
    }
}
