import HealthModel

/// The kinds of background task; each has its own runtime and limit (Apple's documentation of BackgroundTasks).
package enum TaskKind: String, Codable, Sendable, CaseIterable {
    /// `BGAppRefreshTask`: 30 seconds.
    case refresh
    /// `BGProcessingTask`: minutes; here, 10.
    case processing
    /// `BGContinuedProcessingTask`: started by its user in the foreground, and runs until it is done.
    case continued

    /// How long a task may run; nil if it may run until it is done.
    package var runtime: Duration? {
        switch self {
        case .refresh: .seconds(30)
        case .processing: .seconds(600)
        case .continued: nil
        }
    }

    /// How many requests of this kind may be pending; nil for no limit.
    package var pendingLimit: Int? {
        switch self {
        case .refresh: 1
        case .processing: 10
        case .continued: nil
        }
    }

    /// What the manifest's `backgroundModes` must contain, with the names of `UIBackgroundModes`; nil if nothing is
    /// required.
    package var backgroundMode: String? {
        switch self {
        case .refresh: "fetch"
        case .processing: "processing"
        case .continued: nil
        }
    }
}

/// A request to run a task: its earliest start, and its conditions. At most one per identifier may be pending.
package struct TaskRequest: Codable, Sendable, Equatable {
    /// What happens to a continued task that can't begin at once.
    package enum Strategy: String, Codable, Sendable { case queue, fail }

    /// What a continued task needs in addition. The only one that Apple has is the GPU, which nothing here uses; the
    /// field's reports name the network.
    package enum Resource: String, Codable, Sendable { case network }

    /// Not part of the request as sent and stored.
    package internal(set) var identifier = ""
    /// A lower bound by the wall clock, never a promise; nil to begin at once.
    @OrNull package var earliestBegin: Instant?
    package var requiresNetwork: Bool
    package var requiresPower: Bool
    /// The text that a continued task shows its user.
    package var title: String
    package var subtitle: String
    package var strategy: Strategy
    /// nil: none.
    package var resources: [Resource]?

    private enum CodingKeys: String, CodingKey {
        case earliestBegin, title, subtitle, strategy, resources
        case requiresNetwork = "network"
        case requiresPower = "power"
    }

    package init(
        _ identifier: String, earliestBegin: Instant? = nil, requiresNetwork: Bool = false, requiresPower: Bool = false,
        title: String = "", subtitle: String = "", strategy: Strategy = .queue, resources: [Resource]? = nil
    ) {
        self.identifier = identifier
        self.earliestBegin = earliestBegin
        (self.requiresNetwork, self.requiresPower, self.title) = (requiresNetwork, requiresPower, title)
        (self.subtitle, self.strategy, self.resources) = (subtitle, strategy, resources)
    }
}

/// The circumstances that decide whether tasks may begin at a given moment.
package struct TaskConditions: Sendable, Equatable {
    /// The wall clock, for earliest starts.
    package var now: Instant
    /// The monotonic clock, for runtimes.
    package var monotonic: MonotonicTime
    package var device: DeviceState
    /// Whether there is network access; nil if unknown, which holds nothing back.
    package var hasNetwork: Bool?
    /// When an app refresh may next wake the app, if the hour's wakes are used up.
    package var nextWake: Instant?
    /// This machine's power and load; nil if nothing needs them.
    package var machine: MachineState?
    /// Processing tasks wait while the machine is low on battery, or busy.
    package var needsIdleMachine = false

    package init(
        now: Instant, monotonic: MonotonicTime, device: DeviceState, hasNetwork: Bool? = nil, nextWake: Instant? = nil
    ) {
        (self.nextWake, self.now, self.monotonic, self.device) = (nextWake, now, monotonic, device)
        self.hasNetwork = hasNetwork ?? device.network?.isSatisfied
    }
}

/// Why a pending task doesn't begin.
package enum TaskObstacle: String, Codable, Sendable {
    case forceQuit = "force-quit"
    case notYet = "its earliest start is still to come"
    case noNetwork = "no network path"
    case noPower = "not charging"
    case lowBattery = "this machine's battery is low"
    case busy = "this machine is busy"
    case lowPowerMode = "Low Power Mode"
    case deferred = "deferred by the system"
    case noWakes = "the hour's wakes are used up"
    case device = "the device decides when to launch it"
    case running = "it is already running"
    case queued = "another continued task is running"
}
