import HealthModel

/// The true time of a simulated phone, and what is to happen when.
protocol PhoneTime: AnyObject {
    var now: Instant { get }
    /// Does something at a moment, or at once if that is in the past.
    func at(_ time: Instant, _ action: @escaping () throws -> Void)
    /// Lets time pass.
    /// - Throws: whatever an action throws.
    func run(until end: Instant) throws
}

/// A simulated time in which only the scheduled actions happen.
final class PlainTime: PhoneTime {
    private(set) var now: Instant
    private var queue = EventQueue<() throws -> Void>()

    init(at now: Instant) { self.now = now }

    func at(_ time: Instant, _ action: @escaping () throws -> Void) {
        queue.add(action, at: MonotonicTime(microseconds: max(time, now).microseconds))
    }

    func run(until end: Instant) throws {
        while let next = queue.nextTime, next.microseconds < end.microseconds, let (at, action) = queue.next() {
            now = Instant(microseconds: max(now.microseconds, at.microseconds))
            try action()
        }
        now = max(now, end)
    }
}

/// The time of a world of stages, whose monotonic clock shows true time.
final class WorldTime: PhoneTime {
    let world: SimulatedWorld
    /// The true time at which the simulated clock was at 0.
    private let epoch: Instant

    init(_ world: SimulatedWorld, start: Instant) {
        self.world = world
        epoch = start - .microseconds(world.monotonic.microseconds)
    }

    var now: Instant { Instant(microseconds: world.monotonic.microseconds + epoch.microseconds) }

    func at(_ time: Instant, _ action: @escaping () throws -> Void) {
        world.schedule(.action(action), after: time - now)
    }

    func run(until end: Instant) throws {
        if end > now { try world.run(for: end - now) }
    }

    /// Sets the wall clock that the stages see.
    func setWallClock(offBy offset: Duration) { world.wallOffset = epoch + offset }
}
