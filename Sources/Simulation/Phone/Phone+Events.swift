import BackgroundDelivery
import HealthModel

/// What happens to the phone, and its immediate response.
extension Phone {
    func happen(_ event: PhoneEvent) throws {
        switch event {
        // Anything that reaches the phone on the day of grace isn't counted, since there may be no wake left for it.
        case .arrive where isFaultless: return
        case .arrive(let added, let deleted): return try arrive(added, deleted)
        case .clock(let offset): return app.setClock(offBy: isFaultless ? .zero : offset)
        case _ where isFaultless: return
        case .lock: try lock()
        case .unlock: try unlock()
        case .charging(let isOn): device.isCharging = isOn
        case .battery(let level): device.batteryLevel = level
        case .lowPower(let isOn): device.isLowPowerMode = isOn
        case .sleepFocus(let isOn): (isInSleepFocus, device.isSleepMode) = (isOn, isOn)
        case .focus(let isOn): isInFocus = isOn
        case .load(let level): load = level
        case .network(let path): device.network = path
        case .openApp: if probe.app == nil, !isBooting { try openApp() }
        case .closeApp: if probe.app == nil { try closeApp() }
        case .terminateApp: if device.app == .background { try endApp(.terminated) }
        case .forceQuit: if probe.app == nil { try endApp(.forceQuit) }
        case .reboot: try reboot()
        }
        try app.deviceChanged()
    }

    private func arrive(_ added: [LifeSample], _ deleted: [SampleID]) throws {
        ledger.note(added: added, deleted: deleted) { book.hour(of: $0) }
        try app.arrive(added, deleted: deleted)
        guard device.app != .active else { return }
        planDelivery(isImmediate: added.contains { LifeSample.immediate.contains($0.type) })
    }

    /// Locks the screen; health data can be read for a few more minutes.
    private func lock() throws {
        isInUse = false
        lastUse = now
        if device.app == .active { try closeApp() }
        let locked = now
        at(now + model.minutes(.readableAfterLockMinutes)) { [unowned self] in
            guard !isInUse, lastUse == locked, !isFaultless else { return }
            device.isLocked = true
            try app.deviceChanged()
        }
    }

    private func unlock() throws {
        isInUse = true
        lastUse = now
        // The system ends processing when the person picks up the phone.
        if run?.kind == .processing { try endRun() }
        guard !probe.staysLocked else { return }
        device.isLocked = false
        try app.deviceChanged()
        try considerPush()
        try considerDelivery()
        try considerNotification()
    }

    func openApp() throws {
        guard device.app != .active else { return }
        stopRun()
        device.app = .active
        device.isLocked = probe.staysLocked
        noteOpening()
        decisions.forgetChanges()
        try app.open()
    }

    func closeApp() throws {
        guard device.app == .active else { return }
        device.app = .background
        device.isDeferring = true
        guard app.isBusy else { return try app.rest() }
        // The few seconds that iOS leaves an app to finish its work.
        begin(nil, for: .seconds(5))
        try app.deviceChanged()
    }

    func endApp(_ state: DeviceState.AppState) throws {
        stopRun()
        device.app = state
        device.isDeferring = true
        if state == .forceQuit { decisions.heldPush = false }
        try app.end()
    }

    private func reboot() throws {
        guard !isBooting else { return }
        stopRun()
        if device.app != .forceQuit { device.app = probe.app == .forceQuit ? .forceQuit : .terminated }
        device.isDeferring = true
        device.isLocked = true
        isBooting = true
        try app.reboot()
        at(now + .seconds(60)) { [unowned self] in isBooting = false }
    }
}
