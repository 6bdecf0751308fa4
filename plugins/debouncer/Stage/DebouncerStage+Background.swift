import BackgroundDelivery
import Changelog
import HealthModel
import Protocol
import StageKit

extension DebouncerStage {
    /// Adopts what the observer reports about the phone, registrations and types that are switched off.
    func learnDevice(_ beat: Heartbeat, _ turn: Turn) throws {
        guard let observer = beat.observer else { return }
        registration.confirmed = observer.registered[instance]
        window.off = Set(observer.off)
        phone.nextWake = observer.nextWake
        let fired = observer.fired
        offFired = Dictionary(
            uniqueKeysWithValues: window.off.map { ($0, fired?[$0] ?? beat.head?.sequence ?? .end) })
        let new = observer.device ?? DeviceState()
        guard new != phone.device else { return }
        let old = phone.device
        phone.device = new
        try store("device", Value(new), turn)
        if old.app == .active, new.app != .active {
            turn.log(.appBackground, ["pending": window.pendingTypes.count])
        }
        try adaptReach(turn, reason: new.app == .active ? "foreground" : "unlock")
    }

    /// Adopts the state of this machine, which is requested if the configuration needs it.
    package func receive(_ result: EffectResult, _ turn: Turn) throws {
        if let machine = result.value as? MachineState { phone.machine = machine }
    }

    /// What may be released, given the current state of the phone and the tasks.
    var reachNow: ReleaseWindow.Reach {
        if phone.device.isLocked || phone.device.app == .forceQuit { return .nothing }
        if phone.device.app == .active || phone.isConsolidating || !tasks.scheduler.runningIdentifiers.isEmpty {
            return .everything
        }
        return configuration.background == .sync ? .fired : .collecting
    }

    /// Follows the phone: while the app has time, everything is released at once; otherwise whatever is waiting is
    /// collected for a task.
    func adaptReach(_ turn: Turn, reason: String) throws {
        let reach = reachNow
        guard reach != window.reach else { return }
        window.reach = reach
        switch reach {
        case .everything:
            let moved = window.releaseEverything()
            guard !moved.isEmpty else { return }
            try save(turn)
            try released(moved, reason: reason, turn)
        case .collecting: window.closeAll()
        case .fired, .nothing: break
        }
    }

    /// Maintains the pending set while the app has no time of its own, and submits a task once a window with changes in
    /// it has closed.
    func keepPending(_ turn: Turn) throws {
        let isCollecting = window.reach != .everything
        let pending = isCollecting ? window.pendingSet : [:]
        if pending != savedPending {
            for type in pending.keys.sorted() where savedPending[type] == nil {
                turn.log(.pendingAdded, ["type": HealthType.logged(type)])
            }
            savedPending = pending
            tasks.forgive(DebouncerTask.healthkitSync.rawValue)
            try store("pending", .object(pending.mapValues { .integer($0.value) }), turn)
            // Anything released in the meantime must also be announced again after a restart.
            try save(turn)
        }
        let sync = DebouncerTask.healthkitSync
        guard window.reach == .collecting, window.hasCollected, tasks.isToBeSubmitted(sync.rawValue) else { return }
        try tasks.submit(request(sync, earliest: nil), conditions(turn), turn)
    }

    /// Answers the observer's fires: at once in the background, where the pending set has just been saved; with the
    /// next repetition in the foreground, where nothing would be lost without an acknowledgement.
    func acknowledge(atOnce: Bool, _ turn: Turn) {
        guard !registration.acknowledgements.isEmpty, atOnce || phone.device.app != .active,
            phone.device.app != .forceQuit
        else { return }
        turn.publish(
            Acknowledged.topic(observer), Acknowledged(consumer: instance, types: registration.acknowledgements))
        registration.acknowledgements = [:]
    }

    /// Acknowledges fires although the turn that noted them has failed, as an app calls the completion handler on its
    /// error path too: a failure here is no reason to stop waking the app. Nothing is lost, since the next launch
    /// registers again, and continues from what was released.
    package func lastWords(_ messages: [Message]) -> [(topic: String, body: Value)] {
        var types = registration.acknowledgements
        for fire in messages.compactMap({ $0.topic.hasPrefix("observed.") ? $0.body.read(Observed.self) : nil }) {
            types[fire.type] = max(types[fire.type] ?? .beginning, fire.sequence)
        }
        guard !types.isEmpty, phone.device.app != .forceQuit else { return [] }
        return [(Acknowledged.topic(observer), Value(Acknowledged(consumer: instance, types: types)))]
    }

    /// Registers this launch with the observer, repeatedly until it confirms.
    func register(_ turn: Turn) {
        guard registration.confirmed != registration.launch else { return }
        turn.publish(
            Register.topic(observer),
            Register(consumer: instance, launch: registration.launch, types: configuration.frequencies).body)
    }

    /// Takes in others' heartbeats: how far consumers have come, whether the consolidator's task is running, whether
    /// the uploader has a network path.
    func hear(_ beat: Heartbeat, _ turn: Turn) throws {
        if beat.instance == consolidator {
            let isRunning = beat.stage.tasks?.contains { $0.state == .running } ?? false
            guard isRunning != phone.isConsolidating else { return }
            phone.isConsolidating = isRunning
            return try adaptReach(turn, reason: "consolidated-daily")
        }
        guard let consumer = consumers.first(where: { $0.name == beat.instance }) else { return }
        // An instance that has restarted knows nothing of the releases its predecessor received.
        if announcements.lives.updateValue(beat.epoch, forKey: consumer.name) != beat.epoch {
            announcements.sent[consumer.name] = nil
        }
        if consumer.role == .uploader, let standing = beat.uploaderStanding {
            phone.hasPath = standing.path?.isSatisfied
            try heardRequest(standing.syncRequested, of: consumer.name, turn)
        }
        rounds.heard(beat, of: observer, at: turn.monotonic)
        try heardReplay(beat, turn)
    }

    /// Runs the syncs of consumers whose time of day has come, as if one of their types had been fired.
    func followClock(_ turn: Turn) throws {
        let timed = consumers.filter { !$0.times.isEmpty }
        guard !timed.isEmpty else { return }
        guard !phone.zones.isEmpty else { return askZones(turn) }
        if let due = nextTime {
            guard turn.now >= due else { return }
            // The user may have travelled in the meantime.
            askZones(turn)
            let isCollecting = window.reach == .collecting
            let moved = isCollecting ? [] : window.releaseEverything { type in timed.contains { $0.takes(type) } }
            if !moved.isEmpty {
                try save(turn)
                try released(moved, reason: "time of day", turn)
            }
            let sync = DebouncerTask.healthkitSync
            if isCollecting, window.hasUnreleased, !tasks.scheduler.isPending(sync.rawValue) {
                try tasks.submit(request(sync, earliest: nil), conditions(turn), turn)
            }
        }
        let minutes = timed.reduce(into: Set<Int>()) { $0.formUnion($1.times) }
        nextTime = phone.zones.values.flatMap { zone in minutes.compactMap { zone.next(minute: $0, after: turn.now) } }
            .min()
    }

    func conditions(_ turn: Turn) -> TaskConditions {
        var conditions = TaskConditions(
            now: turn.now, monotonic: turn.monotonic, device: phone.device,
            hasNetwork: phone.device.network?.isSatisfied ?? phone.hasPath, nextWake: phone.nextWake)
        conditions.machine = phone.machine
        conditions.needsIdleMachine = configuration.tasksNeedIdle
        return conditions
    }
}
