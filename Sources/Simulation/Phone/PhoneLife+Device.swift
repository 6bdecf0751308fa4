import BackgroundDelivery
import HealthModel

extension PhoneLife {
    /// Lock, power, network, and what the person does with the app.
    func deviceEvents(_ plan: DayPlan) -> [TimedEvent] {
        var random = SimulatedRandom(seed: options.seed, subject: 2, number: plan.day)
        var events = power(plan, &random) + network(plan)
        events.append(TimedEvent(plan.wakesAt, .sleepFocus(false)))
        events.append(TimedEvent(plan.sleepsAt, .sleepFocus(true)))
        let looks = looks(plan, &random)
        for look in looks {
            events.append(TimedEvent(look.lowerBound, .unlock))
            events.append(TimedEvent(look.upperBound, .lock))
        }
        // The app is opened while the phone is in use.
        var openings = Int(options.opensPerDay)
        if random.chance(options.opensPerDay - Double(openings)) { openings += 1 }
        for _ in 0..<openings where !looks.isEmpty {
            let look = looks[random.index(looks.count)]
            let from = look.lowerBound + .seconds(2)
            events.append(TimedEvent(from, .openApp))
            events.append(
                TimedEvent(min(look.upperBound - .microseconds(1), from + random.seconds(20, 150)), .closeApp))
        }
        func sometimes(_ perDay: Double, _ event: PhoneEvent, spacing: Double) {
            var times = Int(perDay)
            if random.chance(perDay - Double(times)) { times += 1 }
            for _ in 0..<times {
                events.append(TimedEvent(plan.start + random.seconds(7 * 3600, spacing * 3600), event))
            }
        }
        sometimes(options.terminationsPerDay, .terminateApp, spacing: 22)
        sometimes(options.forceQuitsPerDay, .forceQuit, spacing: 22)
        sometimes(options.rebootsPerDay, .reboot, spacing: 22)
        // Somebody sets the clock by hand, and back again.
        if random.chance(0.03) {
            let at = plan.start + random.seconds(10 * 3600, 18 * 3600)
            events.append(TimedEvent(at, .clock(random.seconds(-3 * 3600, 3 * 3600))))
            events.append(TimedEvent(at + random.seconds(600, 3600), .clock(.zero)))
        }
        return events
    }

    /// When the phone is unlocked: for a minute or several, again and again while the person is awake.
    private func looks(_ plan: DayPlan, _ random: inout SimulatedRandom) -> [Range<Instant>] {
        var looks: [Range<Instant>] = []
        var at = plan.wakesAt + random.seconds(60, 1200)
        while at < plan.sleepsAt {
            let until = at + random.seconds(30, 480)
            looks.append(at..<until)
            at = until + random.seconds(300, 2700)
        }
        return looks
    }

    private func power(_ plan: DayPlan, _ random: inout SimulatedRandom) -> [TimedEvent] {
        var events = [
            TimedEvent(plan.wakesAt, .charging(false)), TimedEvent(plan.sleepsAt, .charging(true)),
            TimedEvent(plan.wakesAt, .lowPower(false)), TimedEvent(plan.wakesAt, .battery(1)),
            TimedEvent(plan.sleepsAt + Self.hour * 2, .battery(1)),
        ]
        let perHour = random.uniform(0.035, 0.065)
        for hour in 1...16 {
            let level = max(0.03, 1 - perHour * Double(hour))
            let at = plan.wakesAt + Self.hour * hour
            if at >= plan.sleepsAt { break }
            events.append(TimedEvent(at, .battery(level)))
            if level < 0.2, level + perHour >= 0.2 { events.append(TimedEvent(at, .lowPower(true))) }
        }
        return events
    }

    private func network(_ plan: DayPlan) -> [TimedEvent] {
        let away = plan.wakesAt + Self.minute * 90
        let back = plan.sleepsAt - Self.hour * 3
        func path(_ at: Instant) -> NetworkPath {
            if plan.offline.contains(where: { $0.contains(at) }) {
                return NetworkPath(isSatisfied: false, interface: nil)
            }
            return NetworkPath(isSatisfied: true, interface: (away..<back).contains(at) ? .cellular : .wifi)
        }
        let changes = [plan.start, away, back] + plan.offline.flatMap { [$0.lowerBound, $0.upperBound] }
        return changes.map { TimedEvent($0, .network(path($0))) }
    }
}
