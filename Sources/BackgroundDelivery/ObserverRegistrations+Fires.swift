import HealthModel

extension ObserverRegistrations {
    /// Fires whatever is due.
    /// - Parameters:
    ///   - heads: the latest sequence number by type.
    ///   - now: the wall clock; periods are measured by it, since they outlast a process.
    ///   - monotonic: the monotonic clock, for acknowledgements.
    package mutating func fires(
        heads: [String: SequenceNumber], device: DeviceState, at now: Instant, monotonic: MonotonicTime
    ) -> Round {
        var round = Round()
        round.stopped = countMisses(at: monotonic)
        settle(heads, at: now)
        reportUnheard(heads, &round)
        if device.isLocked {
            if lockHeldSince == nil, dueTypes(device, now).contains(where: { held[$0] != nil }) {
                lockHeldSince = now
                isChanged = true
            }
            return round
        }
        if lockHeldSince != nil {
            lockHeldSince = nil
            isChanged = true
        }
        let repeats = Set(repeated(device, now, monotonic))
        let due = dueTypes(device, now)
        let isWake = device.app != .active && !(repeats.isEmpty && due.allSatisfy(advisory.contains))
        if isWake, limits.wakesPerHour > 0 {
            wakes.append(now)
            isChanged = true
        }
        for type in Set(due).union(repeats).sorted() {
            let isRepeat = !due.contains(type)
            fire(type, upTo: heads[type] ?? .beginning, isRepeat: isRepeat, device, at: now, monotonic: monotonic)
            round.fires.append(Fire(type: type, sequence: heads[type] ?? .beginning, isRepeat: isRepeat))
        }
        return round
    }

    private mutating func fire(
        _ type: String, upTo sequence: SequenceNumber, isRepeat: Bool, _ device: DeviceState, at now: Instant,
        monotonic: MonotonicTime
    ) {
        if !isRepeat {
            // An advisory fire also reports everything up to now.
            held[type] = nil
            advisory.remove(type)
            lastFires[type] = now
            isWorthSaving = true
            if effective(type)?.period ?? .zero > .zero { isChanged = true }
        }
        // While the app is on the screen, it is running: it needn't be woken, and no acknowledgement is expected.
        guard device.app != .active else { return }
        for (name, consumer) in consumers where !consumer.isStopped && consumer.requested(type) != nil {
            let old = consumer.awaited[type]
            if isRepeat, old == nil { continue }
            consumers[name]?.awaited[type] = Awaited(
                first: old?.first ?? sequence, last: isRepeat ? old?.last ?? sequence : sequence,
                since: old.flatMap { $0.repeatAt == nil ? $0.since : nil } ?? monotonic)
        }
    }

    /// Types to fire now, disregarding the lock. Sorted.
    private func dueTypes(_ device: DeviceState, _ now: Instant) -> [String] {
        let silenced = silenced
        switch device.app {
        case .forceQuit: return []
        case .active: return Set(held.keys).union(advisory).subtracting(silenced).sorted()
        case .background, .terminated:
            var due = Set(held.keys.filter { dueTime($0, now).map { $0 <= now } ?? false && !backsOff($0) })
            if device.isDeferring || wakeTime(after: now) > now { due = [] }
            if !due.isEmpty { due.formUnion(held.keys.filter { !Self.canWake($0) && isHeard($0) }) }
            // A consumer that has just registered is running: firing it doesn't count as a wake.
            return due.union(advisory.filter(isRegistered)).subtracting(silenced).sorted()
        }
    }

    /// When a held type may be fired; nil when no consumer is registered for it, or all of them are stopped.
    private func dueTime(_ type: String, _ now: Instant) -> Instant? {
        let frequencies = consumers.values.filter { !$0.isStopped }.compactMap { requested(type, by: $0) }
        guard let frequency = frequencies.min()?.clamped(to: limits.floor(of: type)) else { return nil }
        return lastFires[type].map { $0 + frequency.period } ?? now
    }

    private func isHeard(_ type: String) -> Bool {
        consumers.values.contains { !$0.isStopped && $0.requested(type) != nil }
    }

    /// Whether a fire of this type was missed and is waiting to be repeated.
    private func backsOff(_ type: String) -> Bool {
        consumers.values.contains { !$0.isStopped && $0.awaited[type]?.repeatAt != nil }
    }

    /// When the app may next be woken: `now` unless the hour's wakes are used up.
    private func wakeTime(after now: Instant) -> Instant {
        guard limits.wakesPerHour > 0 else { return now }
        let recent = wakes.filter { $0 <= now && $0 > now - Self.hour }.sorted()
        guard recent.count >= limits.wakesPerHour else { return now }
        return recent[recent.count - limits.wakesPerHour] + Self.hour
    }

    /// When the app may be woken again; nil if it may be woken now.
    package func nextWake(after now: Instant) -> Instant? {
        let next = wakeTime(after: now)
        return next > now ? next : nil
    }

    /// Records that an app refresh has woken the app, which counts as one of the hour's wakes. May be called any number
    /// of times.
    package mutating func refreshed(at began: Instant, now: Instant) {
        guard limits.wakesPerHour > 0, began <= now, began > now - Self.hour, !wakes.contains(began) else { return }
        // A wake older than all that are kept is ignored, since enough later ones already count.
        if wakes.count >= limits.wakesPerHour, let first = wakes.min(), began < first { return }
        wakes = Array((wakes + [began]).sorted().suffix(limits.wakesPerHour))
        isChanged = true
    }

    private static let hour = Duration.seconds(3600)

    private mutating func reportUnheard(_ heads: [String: SequenceNumber], _ round: inout Round) {
        let silenced = silenced
        for type in held.keys.sorted()
        where !isRegistered(type) && !unheard.contains(type) && !silenced.contains(type) {
            unheard.insert(type)
            round.unheard.append(type)
        }
    }

    private mutating func settle(_ heads: [String: SequenceNumber], at now: Instant) {
        let silenced = silenced
        for (type, from) in held where !silenced.contains(type) {
            // A type that was switched off and on again without a change in between has nothing to report.
            if heads[type] ?? .beginning <= from { held[type] = nil }
            // A clock that was set back must not delay a type for longer than its period.
            if let last = lastFires[type], last > now { lastFires[type] = now }
        }
        if limits.wakesPerHour > 0 { wakes = wakes.suffix(limits.wakesPerHour) }
    }
}

extension ObserverRegistrations {
    /// Records fires that weren't acknowledged in time, and returns the consumers whose strikes are used up.
    private mutating func countMisses(at monotonic: MonotonicTime) -> [String] {
        var stopped: [String] = []
        for (name, old) in consumers where !old.isStopped && !old.awaited.isEmpty {
            var consumer = old
            for (type, awaited) in old.awaited
            where awaited.repeatAt == nil && monotonic - awaited.since >= limits.acknowledgeWithin {
                let misses = (consumer.strikes[type] ?? 0) + 1
                consumer.strikes[type] = misses
                consumer.awaited[type]?.repeatAt = monotonic + limits.backOff(after: misses)
                isChanged = true
                if limits.strikesUntilStopped > 0, misses >= limits.strikesUntilStopped { consumer.isStopped = true }
            }
            if consumer.isStopped {
                consumer.awaited = [:]
                stopped.append(name)
            }
            if consumer != old { consumers[name] = consumer }
        }
        return stopped.sorted()
    }

    private func repeated(_ device: DeviceState, _ now: Instant, _ monotonic: MonotonicTime) -> [String] {
        guard device.app == .background || device.app == .terminated, !device.isDeferring, wakeTime(after: now) <= now
        else { return [] }
        return consumers.values.filter { !$0.isStopped }.flatMap { consumer in
            consumer.awaited.filter { $0.value.repeatAt.map { $0 <= monotonic } ?? false }.keys
        }
    }

    /// When to check again; nil if there is no need before something changes.
    package func nextDeadline(device: DeviceState, at now: Instant, monotonic: MonotonicTime) -> MonotonicTime? {
        let awaited = consumers.values.filter { !$0.isStopped }.flatMap(\.awaited.values)
        var deadlines = awaited.filter { $0.repeatAt == nil }.map { $0.since + limits.acknowledgeWithin }
        if device.isLocked {
            if let since = lockHeldSince, !isUnlockOverdue(at: now) {
                deadlines.append(monotonic + (since - now) + limits.unlockReminderAfter)
            }
        } else if device.app == .background || device.app == .terminated, !device.isDeferring {
            let silenced = silenced
            let wake = monotonic + (wakeTime(after: now) - now)
            deadlines += awaited.compactMap(\.repeatAt).map { max($0, wake) }
            for type in held.keys where !silenced.contains(type) && !backsOff(type) {
                guard let due = dueTime(type, now) else { continue }
                deadlines.append(max(monotonic + (due - now), wake))
            }
        }
        return deadlines.min()
    }

    /// Whether the locked phone has held changes back for so long that a person should know.
    package func isUnlockOverdue(at now: Instant) -> Bool {
        lockHeldSince.map { now - $0 >= limits.unlockReminderAfter } ?? false
    }
}
