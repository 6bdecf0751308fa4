import HealthModel

/// What kinds of background task there are; each has a runtime and a limit of its own (Apple's documentation of BackgroundTasks).
package enum TaskKind: String, Codable, Sendable, CaseIterable {
    /// `BGAppRefreshTask`: 30 seconds.
    case refresh
    /// `BGProcessingTask`: minutes; 10 here.
    case processing
    /// `BGContinuedProcessingTask`: begun by its user in the foreground, goes on until it is done.
    case continued

    /// How long a task may run; nil: until it is done.
    package var runtime: Duration? {
        switch self {
        case .refresh: .seconds(30)
        case .processing: .seconds(600)
        case .continued: nil
        }
    }

    /// How many requests of this kind may be pending; nil: no limit.
    package var pendingLimit: Int? {
        switch self {
        case .refresh: 1
        case .processing: 10
        case .continued: nil
        }
    }

    /// What the manifest's `backgroundModes` must hold, as `UIBackgroundModes` names it; nil: nothing.
    package var backgroundMode: String? {
        switch self {
        case .refresh: "fetch"
        case .processing: "processing"
        case .continued: nil
        }
    }
}

/// A task that is to run: when at the earliest, and on what conditions. One an identifier may be pending.
package struct TaskRequest: Codable, Sendable, Equatable {
    /// What happens to a continued task that can't begin at once.
    package enum Strategy: String, Codable, Sendable { case queue, fail }

    /// Beside what is told and kept of the request.
    package internal(set) var identifier = ""
    /// A lower bound by the clock, never a promise; nil: at once.
    @OrNull package var earliestBegin: Instant?
    package var requiresNetwork: Bool
    package var requiresPower: Bool
    /// What a continued task shows its user.
    package var title: String
    package var subtitle: String
    package var strategy: Strategy

    private enum CodingKeys: String, CodingKey {
        case earliestBegin, title, subtitle, strategy
        case requiresNetwork = "network"
        case requiresPower = "power"
    }

    package init(
        _ identifier: String, earliestBegin: Instant? = nil, requiresNetwork: Bool = false, requiresPower: Bool = false,
        title: String = "", subtitle: String = "", strategy: Strategy = .queue
    ) {
        self.identifier = identifier
        self.earliestBegin = earliestBegin
        self.requiresNetwork = requiresNetwork
        self.requiresPower = requiresPower
        self.title = title
        self.subtitle = subtitle
        self.strategy = strategy
    }
}

/// What lets tasks begin at a moment.
package struct TaskConditions: Sendable, Equatable {
    /// The clock, for earliest begins.
    package var now: Instant
    /// The clock that never jumps, for runtimes.
    package var monotonic: MonotonicTime
    package var device: DeviceState
    /// Whether there is a way out; nil: nobody says, which holds nothing back.
    package var hasNetwork: Bool?

    package init(now: Instant, monotonic: MonotonicTime, device: DeviceState, hasNetwork: Bool? = nil) {
        self.now = now
        self.monotonic = monotonic
        self.device = device
        self.hasNetwork = hasNetwork ?? device.network?.isSatisfied
    }
}

/// Why a pending task doesn't begin.
package enum TaskObstacle: String, Codable, Sendable {
    case forceQuit = "force-quit"
    case notYet = "not before its earliest begin"
    case noNetwork = "no network path"
    case noPower = "not charging"
    case lowPowerMode = "Low Power Mode"
    case deferred = "put off by the system"
    case device = "the device launches it"
    case running = "it runs"
    case queued = "another continued task runs"
}
