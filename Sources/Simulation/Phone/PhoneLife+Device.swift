import BackgroundDelivery
import HealthModel

extension PhoneLife {
    /// Lock, power, network, and what the person does with the app.
    func deviceEvents(_ plan: DayPlan) -> [TimedEvent] {
        let model = options.model
        var random = SimulatedRandom(seed: options.seed, subject: 2, number: plan.day)
        var events = power(plan) + network(plan) + moods(plan)
        for look in plan.looks {
            events.append(TimedEvent(look.lowerBound, .unlock))
            events.append(TimedEvent(look.upperBound, .lock))
        }
        // The app is opened while the phone is in use.
        for number in 0..<random.times(options.opensPerDay) where !plan.looks.isEmpty {
            let look = plan.looks[opening(number, plan, &random)]
            let from = look.lowerBound + .seconds(2)
            let length = random.seconds(model[.openSeconds] * 0.5, model[.openSeconds] * 1.5)
            let until = max(from, min(look.upperBound - .microseconds(1), from + length))
            events.append(TimedEvent(from, .openApp))
            events.append(TimedEvent(until, .closeApp))
            if random.chance(model[.forceQuitAfterUse]) { events.append(TimedEvent(until + .seconds(1), .forceQuit)) }
        }
        func sometimes(_ number: PhoneModel.Number, _ event: PhoneEvent) {
            for _ in 0..<random.times(model[number]) {
                events.append(TimedEvent(plan.start + random.seconds(0, 86_000), event))
            }
        }
        sometimes(.terminationsPerDay, .terminateApp)
        sometimes(.rebootsPerDay, .reboot)
        // Somebody sets the clock by hand, and back again.
        if random.chance(0.03) {
            let at = plan.start + random.seconds(10 * 3600, 18 * 3600)
            events.append(TimedEvent(at, .clock(random.seconds(-3 * 3600, 3 * 3600))))
            events.append(TimedEvent(at + random.seconds(600, 3600), .clock(.zero)))
        }
        return events
    }

    /// Which look at the phone opens the app: mostly the one at the person's usual time, otherwise any.
    private func opening(_ number: Int, _ plan: DayPlan, _ random: inout SimulatedRandom) -> Int {
        guard random.chance(options.model[.usualOpens]) else { return random.index(plan.looks.count) }
        var habits = SimulatedRandom(seed: options.seed, subject: 9, number: number)
        let share = (Double(number) + habits.uniform(0.1, 0.9)) / max(1, options.opensPerDay.rounded())
        let awake = (plan.sleepsAt - plan.wakesAt).seconds
        let usual = plan.wakesAt + random.seconds(awake * share - 1800, awake * share + 1800)
        return min(plan.looks.firstPlace(behind: { $0.lowerBound < usual }), plan.looks.count - 1)
    }

    /// The phone's Focus, heat and load.
    private func moods(_ plan: DayPlan) -> [TimedEvent] {
        let model = options.model
        var random = SimulatedRandom(seed: options.seed, subject: 6, number: plan.day)
        var events = [TimedEvent(plan.wakesAt, .sleepFocus(false)), TimedEvent(plan.sleepsAt, .sleepFocus(true))]
        func spell(_ hours: Double, _ on: PhoneEvent, _ off: PhoneEvent) {
            let from = plan.start + random.seconds(9 * 3600, 17 * 3600)
            guard hours > 0 else { return }
            events.append(TimedEvent(from, on))
            events.append(TimedEvent(from + random.seconds(hours * 1800, hours * 5400), off))
        }
        if plan.day % 7 < 5 { spell(model[.focusHoursPerDay] * 1.4, .focus(true), .focus(false)) }
        spell(model[.hotHoursPerDay], .load(0.9), .load(0))
        return events
    }

    private func isChargedAtNight(_ day: Int) -> Bool {
        var random = SimulatedRandom(seed: options.seed, subject: 5, number: day)
        return random.chance(options.model[.chargesAtNight])
    }

    /// On the charger at night and sometimes by day; in between, the battery drains hour by hour.
    private func power(_ plan: DayPlan) -> [TimedEvent] {
        let model = options.model
        var random = SimulatedRandom(seed: options.seed, subject: 7, number: plan.day)
        let perHour = model[.batteryPerHour] * random.uniform(0.7, 1.3)
        let wasCharged = isChargedAtNight(plan.day - 1)
        var level = wasCharged ? 1.0 : 0.45
        var events = [TimedEvent(plan.wakesAt, .charging(false)), TimedEvent(plan.wakesAt, .battery(level))]
        if wasCharged { events.append(TimedEvent(plan.wakesAt, .lowPower(false))) }
        let desk = plan.start + random.seconds(9 * 3600, 19 * 3600)
        let atDesk = random.chance(model[.chargesByDay]) ? desk..<(desk + random.seconds(1800, 5400)) : desk..<desk
        if !atDesk.isEmpty {
            events.append(TimedEvent(atDesk.lowerBound, .charging(true)))
            events.append(TimedEvent(atDesk.lowerBound, .lowPower(false)))
            events.append(TimedEvent(atDesk.upperBound, .charging(false)))
        }
        var isSaving = false
        var at = plan.wakesAt + Self.hour
        while at < plan.sleepsAt {
            let before = level
            level = atDesk.contains(at) ? min(1, level + 0.5) : max(0.02, level - perHour)
            events.append(TimedEvent(at, .battery(level)))
            if level < model[.lowPowerBelow], before >= model[.lowPowerBelow], !isSaving {
                isSaving = random.chance(model[.lowPowerAccepted])
                if isSaving { events.append(TimedEvent(at, .lowPower(true))) }
            }
            at += Self.hour
        }
        if isChargedAtNight(plan.day) {
            let seconds = 60 * model[.plugsInBeforeSleepMinutes]
            events.append(TimedEvent(plan.sleepsAt - random.seconds(seconds * 0.3, seconds * 1.7), .charging(true)))
            events.append(TimedEvent(plan.sleepsAt + Self.hour, .lowPower(false)))
            events.append(TimedEvent(plan.sleepsAt + Self.hour * 2, .battery(1)))
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
            return NetworkPath(isSatisfied: true, interface: (away..<max(away, back)).contains(at) ? .cellular : .wifi)
        }
        let changes = [plan.start, away, back] + plan.offline.flatMap { [$0.lowerBound, $0.upperBound] }
        return changes.map { TimedEvent($0, .network(path($0))) }
    }
}
