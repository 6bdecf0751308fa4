import BackgroundDelivery
import Foundation
import HealthModel

/// Thrown when a simulation was asked to stop.
package struct SimulationInterrupted: Error {
    package init() {}
}

/// A simulated person's phone. It goes through the person's days, decides when the app gets time, and counts that time.
/// How the time is used is up to the app.
final class Phone {
    /// Deviations from a normal life, for testing a single ability.
    struct Probe: Sendable, Equatable {
        /// Whether the health data can never be read.
        var staysLocked = false
        /// The app's state at the start, after which it is never opened; nil if it is used as usual.
        var app: DeviceState.AppState?
    }

    let book: LifeBook
    let strategy: DeliveryStrategy
    let model: PhoneModel
    let probe: Probe
    let time: any PhoneTime
    let app: any PhoneApp
    private let isInterrupted: () -> Bool

    /// What the app knows about the phone. Locked means that health data can't be read, which begins minutes after the
    /// screen locks.
    var device = DeviceState()
    /// Whether the phone is in use, with the screen unlocked.
    var isInUse = false
    /// When the phone was last in use.
    var lastUse = Instant.distantPast
    var isInSleepFocus = false
    var isInFocus = false
    var load = 0.0
    var isBooting = false
    /// Whether it is the day of grace, on which there is no force-quitting, killing, locking or going offline.
    private(set) var isFaultless = false
    /// How often per day the app is opened, as the system remembers it.
    private var opensPerDay: Double
    private var remembered: Instant
    /// When the app was last opened.
    private var lastOpening = Instant.distantPast

    var run: BackgroundRun?
    var runs = 0
    var wakes = 0
    var wakesOnBattery = 0
    var wakesByHour = Array(repeating: 0, count: 24)
    var runTime = Duration.zero
    var ledger: SampleLedger
    var decisions: WakeDecisions

    init(
        _ book: LifeBook, strategy: DeliveryStrategy, app: any PhoneApp, time: any PhoneTime, probe: Probe = Probe(),
        family: @escaping (String) -> String, isInterrupted: @escaping () -> Bool = { false }
    ) {
        let options = book.life.options
        (self.book, self.strategy, self.app, self.time, self.probe) = (book, strategy, app, time, probe)
        self.isInterrupted = isInterrupted
        model = options.model
        opensPerDay = probe.app == nil ? options.opensPerDay : 0
        remembered = time.now
        ledger = SampleLedger(family: family)
        decisions = WakeDecisions(strategy, model: options.model, seed: options.seed, at: time.now)
        app.phone = self
    }

    var now: Instant { time.now }
    var isOnline: Bool { device.network?.isSatisfied ?? true }
    /// Whether the app may be woken: it isn't on the screen, wasn't swiped away, and has no run in progress; and the
    /// phone isn't just starting.
    var canWake: Bool { run == nil && !isBooting && (device.app == .background || device.app == .terminated) }

    func at(_ time: Instant, _ action: @escaping () throws -> Void) { self.time.at(time, action) }

    private static let firstUse = Duration.seconds(10)
    static let tick = Duration.seconds(300)

    /// Runs through all the days, and then one day of grace without faults.
    /// - Parameter progress: called with the number of days that are over.
    /// - Throws: `SimulationInterrupted`, or why a stage couldn't continue.
    func live(progress: (Int) -> Void = { _ in }) throws {
        device.app = .terminated
        device.isCharging = true
        device.isDeferring = true
        try app.install()
        // Every app is opened once, after it has been installed.
        try openApp()
        try time.run(until: now + Self.firstUse)
        try closeApp()
        try time.run(until: now + Self.firstUse)
        device.isLocked = true
        if let state = probe.app, state != .background { try endApp(state) }
        try app.deviceChanged()
        scheduleTick()
        let days = book.life.options.days
        for day in 0..<days {
            for timed in book.events(of: day) { at(timed.at) { [unowned self] in try happen(timed.event) } }
            try time.run(until: book.start(of: day + 1))
            progress(day + 1)
        }
        try endFaults()
        try time.run(until: now + PhoneLife.hour * 24)
    }

    private func scheduleTick() {
        at(now + Self.tick) { [unowned self] in
            if isInterrupted() { throw SimulationInterrupted() }
            try decide()
            scheduleTick()
        }
    }

    /// Makes the phone readable, connected to power and online, and opens the app once. From here on, only losses are
    /// counted.
    private func endFaults() throws {
        isFaultless = true
        device.isLocked = probe.staysLocked
        device.isCharging = true
        device.isLowPowerMode = false
        device.batteryLevel = 1
        device.network = NetworkPath(isSatisfied: true, interface: .wifi)
        device.isSleepMode = false
        (isInSleepFocus, isInFocus, load) = (false, false, 0)
        app.setClock(offBy: .zero)
        try app.deviceChanged()
        guard probe.app == nil else { return }
        at(now + PhoneLife.hour * 20) { [unowned self] in try openApp() }
        at(now + PhoneLife.hour * 21) { [unowned self] in try closeApp() }
    }

    /// Remembers an opening; older ones fade.
    func noteOpening() {
        fade()
        lastOpening = now
        opensPerDay += 0.693 / max(0.1, model[.useHalfLifeDays])
    }

    /// Whether the app was opened in the last days: a number of the model.
    func wasOpened(within days: PhoneModel.Number) -> Bool { now - lastOpening <= model.hours(days) * 24 }

    private func fade() {
        let days = (now - remembered).seconds / 86_400
        remembered = now
        opensPerDay *= exp2(-days / max(0.1, model[.useHalfLifeDays]))
    }

    /// What the system currently considers.
    var mood: SystemMood {
        fade()
        var mood = SystemMood()
        mood.battery = device.batteryLevel
        mood.isCharging = device.isCharging
        mood.load = load
        mood.isLowPower = device.isLowPowerMode
        mood.isFocused = isInSleepFocus || isInFocus
        mood.isOnline = isOnline
        mood.opensPerDay = opensPerDay
        return mood
    }

    /// The result.
    var outcome: SampleLedger.Outcome { ledger.compare(arrivals: app.arrivals, alive: app.alive) }
}
