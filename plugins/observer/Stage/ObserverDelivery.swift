import BackgroundDelivery
import Changelog
import HealthModel
import ObserverReading
import Protocol
import SQLite
import StageKit

/// HealthKit's side of background delivery: the device, the registered consumers, and what is fired when. Stored in the
/// observer's file, in the turn that changes it.
final class ObserverDelivery {
    private(set) var device = DeviceState()
    private(set) var registrations: ObserverRegistrations
    /// Consumers whose registration was refused, each with a remedy.
    private var refused: [String: String] = [:]
    /// The line missing from a consumer's manifest; nil when it may register.
    private let refusal: (String) -> String?
    /// Which consumers may read positions; nil: all.
    private let locators: [String]?
    /// Which consumers may read health data; nil: everybody.
    private let readers: [String]?
    /// The instances whose tools may read only what the instance itself may; nil: none.
    private let plugins: [String]?
    /// Whether the system counts how often the app is woken.
    var countsWakes: Bool { registrations.limits.wakesPerHour > 0 }
    /// Everything up to here has been considered: any fired type is fired at least up to here.
    private var covered = SequenceNumber.beginning
    private var savedLately = MonotonicTime.distantPast
    private var isReminding = false

    init(
        limits: SystemLimits, locators: [String]?, readers: [String]?, plugins: [String]?,
        refusal: @escaping (String) -> String?
    ) {
        registrations = ObserverRegistrations(limits: limits)
        (self.locators, self.readers, self.plugins, self.refusal) = (locators, readers, plugins, refusal)
    }

    /// - Returns: the types that a consumer may read again.
    func open(_ turn: Turn) throws -> [String] {
        if let saved = try DeliveryTable.table.value("device", in: turn.database) {
            guard let state = DeviceState().updated(from: saved) else { throw StageError.unreadableCursor("device") }
            device = state
        }
        if let saved = try DeliveryTable.table.value("registrations", in: turn.database) {
            guard let kept = saved.read(KeptRegistrations.self) else {
                throw StageError.unreadableCursor("registrations")
            }
            registrations = ObserverRegistrations(kept, limits: registrations.limits)
            // A plugin that lost its entitlement, or was removed from the stack, is no longer woken.
            registrations.keep { refusal($0) == nil }
        }
        covered = turn.head.sequence
        isReminding = try turn.isRaised(.unlockReminder)
        // A changed configuration may give the rights to different consumers.
        let saved = try DeliveryTable.table.value("access", in: turn.database)
        let isRestricted = locators != nil || readers != nil || plugins != nil
        guard saved != nil || isRestricted, saved != access else { return [] }
        try writeAccess(turn)
        let located = saved?.read(KeptAccess.self)?.locators
        let isWider = located.map { before in locators.map { !Set($0).isSubset(of: before) } ?? true } ?? false
        return isWider ? [HealthType.locationIdentifier] : []
    }
}

extension ObserverDelivery {
    /// Registers a consumer that asks to be notified of changes.
    func register(_ body: Value, known: some Sequence<String>, _ turn: Turn) throws {
        guard let command = Register(body) else { return }
        let (consumer, launch, asked) = (command.consumer, command.launch, command.types)
        let types = asked.compactMapValues(DeliveryFrequency.init(name:))
        let wrong = asked.keys.sorted().first { types[$0] == nil }
        let reason =
            refusal(consumer)
            ?? wrong.map {
                let names = DeliveryFrequency.allCases.map(\.name).joined(separator: ", ")
                return DeliveryError(.invalidArgument, "\($0) of \(consumer)", remedy: "ask for one of \(names)")
                    .description
            }
            ?? asked.keys.sorted().first { !ObserverRegistrations.canWake($0) }.map {
                DeliveryError(
                    .invalidArgument, "\($0) of \(consumer)",
                    remedy: "HealthKit doesn't deliver correlations in the background; register the types of its parts"
                ).description
            }
        if let reason {
            if refused.updateValue(reason, forKey: consumer) != reason {
                turn.log(.registrationRefused, ["consumer": consumer, "why": reason])
                try turn.raise(
                    Alert(
                        .deliveryStopped, subject: consumer,
                        text: "\(consumer) can't be notified of changes while the app isn't on the screen",
                        remedy: reason))
            }
            return
        }
        refused[consumer] = nil
        let isNew = registrations.register(
            consumer, launch: launch, types: types, known: known, inBackground: device.app != .active)
        guard isNew else { return }
        turn.log(.registrationRenewed, ["consumer": consumer, "launch": launch])
        if !registrations.stoppedConsumers.contains(consumer) { try turn.clear(.deliveryStopped, subject: consumer) }
        // It asks for access to all of its types again; denied ones stay denied until the owner allows them.
        for type in registrations.denied.sorted() where registrations.authorization(type, for: consumer) == .denied {
            turn.log(.authorizationAsked, ["consumer": consumer, "type": HealthType.logged(type)])
        }
    }

    /// Handles what the app reports about its tasks: a refresh wakes it as a fire does.
    func hear(_ beat: Heartbeat, _ turn: Turn) {
        guard device.app != .active else { return }
        for task in beat.stage.tasks ?? [] where task.kind == .refresh {
            if let began = task.history?.lastBegin { registrations.refreshed(at: began, now: turn.now) }
        }
    }

    func acknowledge(_ body: Value, _ turn: Turn) {
        guard let word = body.read(Acknowledged.self) else { return }
        turn.log(.observerAcknowledged, ["consumer": word.consumer, "types": word.types.count])
        registrations.acknowledge(word.consumer, word.types, monotonic: turn.monotonic)
    }

    /// Adopts the phone's new state.
    func change(_ body: Value, known: some Sequence<String>, _ turn: Turn) throws {
        guard let command = ChangeDevice(body), let new = device.updated(from: command.set) else {
            return turn.log(.deviceRefused, ["why": "a member has an impossible value"])
        }
        guard new != device else { return }
        let old = device
        device = new
        turn.log(.deviceChanged, ["app": new.app.rawValue, "locked": new.isLocked, "deferring": new.isDeferring])
        if new.app == .active, old.app != .active {
            for consumer in registrations.stoppedConsumers where refused[consumer] == nil {
                try turn.clear(.deliveryStopped, subject: consumer)
            }
            registrations.enteredForeground(known: known)
        }
        if new.app == .forceQuit { registrations.forceQuit() }
        try DeliveryTable.table.set("device", to: Value(new), turn)
        try writeAccess(turn)
    }

    /// Switches types.
    /// - Returns: the types that may be read again.
    func setTypes(_ body: Value, _ turn: Turn) throws -> [String] {
        let before = access
        let denied = registrations.denied
        for (type, setting) in (SwitchTypes(body)?.set ?? [:]).sorted(by: { $0.key < $1.key }) {
            if let isOn = setting.on { registrations.setOff(!isOn, type, head: covered) }
            if let isDenied = setting.denied {
                registrations.setDenied(isDenied, type, head: covered)
                try reportDenial(isDenied, type, turn)
            }
            if setting.frequency == SwitchTypes.appsFrequency {
                registrations.setFrequency(nil, type)
            } else if let frequency = setting.frequency.flatMap(DeliveryFrequency.init(name:)) {
                registrations.setFrequency(frequency, type)
            }
        }
        if access != before { try writeAccess(turn) }
        return denied.subtracting(registrations.denied).sorted()
    }

    private func reportDenial(_ isDenied: Bool, _ type: String, _ turn: Turn) throws {
        guard isDenied else {
            try turn.clear(.deliveryStopped, subject: type)
            return
        }
        try turn.raise(
            Alert(
                .deliveryStopped, subject: type, text: "reading \(type) was denied, so none of it is delivered",
                remedy: "'healthbus types allow \(type)' continues where it stopped"))
    }

    /// The few facts that each read needs, in a separate row.
    private var access: Value {
        Value(
            KeptAccess(
                locked: device.isLocked, denied: registrations.denied.sorted(), locators: locators, readers: readers,
                plugins: plugins))
    }

    private func writeAccess(_ turn: Turn) throws { try DeliveryTable.table.set("access", to: access, turn) }
}

extension ObserverDelivery {
    /// Fires what is due, and saves what must survive a restart; returns when to call it again.
    /// - Parameters:
    ///   - changed: types that changed since the last call.
    ///   - heads: the latest sequence by type.
    func fire(changed: Set<String>, heads: [String: SequenceNumber], _ turn: Turn) throws -> MonotonicTime? {
        registrations.changed(changed, since: covered)
        let round = registrations.fires(heads: heads, device: device, at: turn.now, monotonic: turn.monotonic)
        for type in round.unheard { turn.log(.observerUnheard, ["type": HealthType.logged(type)]) }
        for consumer in round.stopped {
            turn.log(.deliveryStopped, ["consumer": consumer])
            try turn.raise(
                Alert(
                    .deliveryStopped, subject: consumer,
                    text: "\(consumer) didn't acknowledge changes: it is no longer woken in the background",
                    remedy:
                        "'healthbus status' shows whether it is running; opening the app ('healthbus device set app=active')"
                        + " continues where it stopped"))
        }
        try remindOfLock(turn)
        for fire in round.fires {
            turn.log(.observerFired, ["type": HealthType.logged(fire.type), "locked": device.isLocked])
            let observed = Observed(head: turn.head, type: fire.type, sequence: fire.sequence)
            turn.publish(observed.topic, observed)
        }
        covered = turn.head.sequence
        // Without a period, the time of a type's last fire is for information only: it is saved with a later commit.
        let isDue = turn.isWriting && registrations.isWorthSaving && turn.monotonic - savedLately >= .seconds(1)
        if registrations.needsSaving || isDue {
            try DeliveryTable.table.set("registrations", to: Value(registrations.kept), turn)
            registrations.saved()
            savedLately = turn.monotonic
        }
        return registrations.nextDeadline(device: device, at: turn.now, monotonic: turn.monotonic)
    }

    private func remindOfLock(_ turn: Turn) throws {
        let isOverdue = registrations.isUnlockOverdue(at: turn.now)
        guard isOverdue != isReminding else { return }
        isReminding = isOverdue
        if isOverdue {
            try turn.raise(
                Alert(
                    .unlockReminder, text: "the locked phone has held changes back for a while",
                    remedy: "unlock the device: whatever is due is delivered at once"))
        } else {
            try turn.clear(.unlockReminder)
        }
    }

    /// Adds delivery to the heartbeat's details, without the phone's state while it is as it would be without one.
    func report(_ details: inout ObserverDetails, head: SequenceNumber, now: Instant) {
        if device.app != .active { details.nextWake = registrations.nextWake(after: now) }
        if device != DeviceState() { details.device = device }
        details.registered = registrations.launches
        details.refused = refused
        let fired = AnchorVector(base: head, exceptions: registrations.held)
        if fired != AnchorVector(base: head) { details.fired = fired }
        details.off = registrations.silenced.sorted()
        details.stopped = registrations.stoppedConsumers
    }
}
