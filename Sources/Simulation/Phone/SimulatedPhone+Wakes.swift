import BackgroundDelivery
import HealthModel

/// The phone's decisions: which wakes a day has, and when.
extension SimulatedPhone {
    private func draw<Drawn>(_ kind: WakeKind, _ body: (inout SimulatedRandom) -> Drawn) -> Drawn {
        var stream = random[kind] ?? SimulatedRandom(seed: life.options.seed)
        defer { random[kind] = stream }
        return body(&stream)
    }

    /// Plans a day's wakes at its beginning.
    func planWakes(from start: Instant, to end: Instant) {
        for kind in strategy.wakes {
            let budget = draw(kind) { model.budget(kind, inputs, using: &$0) }
            switch kind {
            case .delivery:
                deliveriesLeft = budget
                planDelivery()
            case .refresh:
                for _ in 0..<budget {
                    at(draw(kind) { $0.instant(in: start..<end) }) { [unowned self] in
                        if !device.isLowPowerMode { try wake(.refresh) }
                    }
                }
            case .processing:
                // At night, and only on power and Wi-Fi.
                for _ in 0..<budget {
                    let night = start + PhoneLife.hour..<start + PhoneLife.hour * 5
                    at(draw(kind) { $0.instant(in: night) }) { [unowned self] in
                        if device.isCharging, device.network?.interface == .wifi { try wake(.processing) }
                    }
                }
            case .push: planPushes(from: start, to: end)
            }
        }
    }

    /// The backend sends as many as it may; some are dropped, others come late.
    private func planPushes(from start: Instant, to end: Instant) {
        let spacing = PhoneLife.hour.microseconds / Int64(model.pushesPerHour)
        for sent in stride(from: start.microseconds, to: end.microseconds, by: Int(spacing)) {
            let (delay, luck) = draw(.push) { ($0.seconds(1, 900), SimulatedRandom(seed: $0.next())) }
            at(Instant(microseconds: sent) + delay) { [unowned self] in
                var luck = luck
                if isOnline, model.passesPush(inputs, using: &luck) { try wake(.push) }
            }
        }
    }

    /// A change waits until the phone considers it time.
    func planDelivery() {
        guard strategy.wakes.contains(.delivery), hasChange, !isDeliveryPlanned, !waitsForUnlock, deliveriesLeft > 0,
            device.app == .background || device.app == .terminated
        else { return }
        isDeliveryPlanned = true
        let delay = draw(.delivery) {
            model.delay(afterTermination: device.app == .terminated, inputs, using: &$0)
        }
        at(now + delay) { [unowned self] in
            isDeliveryPlanned = false
            guard hasChange else { return }
            if device.isLocked { waitsForUnlock = true } else { try deliverNow() }
        }
    }

    func deliverNow() throws {
        waitsForUnlock = false
        guard deliveriesLeft > 0, hasChange, device.app == .background || device.app == .terminated else { return }
        device.isDeferring = false
        tell()
        if strategy == .naive { try wake(.delivery) }
    }

    /// The observer fires: outside the app's own time that wakes it.
    func fired() {
        guard strategy.wakes.contains(.delivery), !device.isDeferring, run == nil, deliveriesLeft > 0,
            device.app == .background || device.app == .terminated
        else { return }
        // All types due at this moment share one wake.
        at(now) { [unowned self] in try wake(.delivery) }
    }
}
