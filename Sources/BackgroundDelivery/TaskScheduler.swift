import HealthModel

/// `BGTaskScheduler` as a state machine: registers tasks, accepts requests, begins tasks that may begin, and ends those
/// that run too long. Pure: the time is passed in, and its owner stores its `rows`.
///
/// An identifier must be permitted by the manifest and registered before it is submitted. A task that was running when
/// its process died is pending again.
package struct TaskScheduler: Sendable {
    /// Who decides when a task begins.
    package enum Launcher: String, Sendable {
        /// It begins as soon as its conditions are met.
        case own = "self"
        /// It begins only through `launch`: a simulator, a companion or a person decides. A continued task still begins
        /// by itself.
        case device
    }

    struct Pending: Sendable, Equatable {
        var request: TaskRequest
        var submitted: Instant
        /// It was running when its process ended, and doesn't count as submitted.
        var wasInterrupted = false
    }

    struct Running: Sendable, Equatable {
        var request: TaskRequest
        var began: Instant
        var deadline: MonotonicTime?
        /// Its expiration handler has been called; if the task hasn't completed by this time, it is forced to end.
        var expiresFully: MonotonicTime?
        var progress: TaskProgress?
    }

    package let permitted: Set<String>
    package let backgroundModes: Set<String>
    package let launcher: Launcher
    package private(set) var registered: [String: TaskKind] = [:]
    var pending: [String: Pending] = [:]
    var running: [String: Running] = [:]
    var past: [String: TaskHistory] = [:]

    /// How long a task may still run once its expiration handler has been called. In this time it should cancel its
    /// work, save, and complete.
    package static let expirationGrace = Duration.seconds(5)

    /// - Parameters:
    ///   - permitted: the identifiers in the manifest's `permittedTasks`.
    ///   - backgroundModes: those in the manifest.
    package init(permitted: Set<String>, backgroundModes: Set<String>, launcher: Launcher) {
        (self.permitted, self.backgroundModes, self.launcher) = (permitted, backgroundModes, launcher)
    }

    /// Registers the kind of an identifier's task; done at each launch, before anything is submitted.
    package mutating func register(_ identifier: String, _ kind: TaskKind) throws(DeliveryError) {
        guard registered[identifier] == nil else {
            throw DeliveryError(.alreadyRegistered, identifier, remedy: "register each identifier once per launch")
        }
        guard permitted.contains(identifier) else {
            throw DeliveryError(
                .notPermitted, identifier, remedy: "add \"\(identifier)\" to 'permittedTasks' of the manifest")
        }
        if let mode = kind.backgroundMode, !backgroundModes.contains(mode) {
            throw DeliveryError(
                .notPermitted, identifier, remedy: "add \"\(mode)\" to 'backgroundModes' of the manifest")
        }
        registered[identifier] = kind
    }

    /// Accepts a request, replacing any pending one with the same identifier.
    package mutating func submit(_ request: TaskRequest, _ conditions: TaskConditions) throws(DeliveryError) {
        let identifier = request.identifier
        guard let kind = registered[identifier] else {
            let isPermitted = permitted.contains(identifier)
            throw DeliveryError(
                isPermitted ? .notRegistered : .notPermitted, identifier,
                remedy: isPermitted
                    ? "register it before it is submitted" : "add \"\(identifier)\" to 'permittedTasks' of the manifest"
            )
        }
        if let limit = kind.pendingLimit, pending[identifier]?.wasInterrupted ?? true, submittedCount(kind) >= limit {
            throw DeliveryError(
                .tooManyPendingTaskRequests, identifier,
                remedy: "\(limit) \(kind.rawValue) requests are pending; wait until one has begun, or cancel one")
        }
        if kind == .continued {
            guard conditions.device.app == .active else {
                throw DeliveryError(
                    .notPermitted, identifier, remedy: "a continued task begins in the foreground: open the app")
            }
            if request.strategy == .fail, let obstacle = obstacle(toContinued: request, conditions) {
                throw DeliveryError(
                    .immediateRunIneligible, identifier,
                    remedy: "it can't begin at once (\(obstacle.rawValue)): let it wait, or start it again later")
            }
        }
        pending[identifier] = Pending(request: request, submitted: conditions.now)
    }

    /// Pending requests that count against the kind's limit.
    package func submittedCount(_ kind: TaskKind) -> Int {
        pending.count { registered[$0.key] == kind && !$0.value.wasInterrupted }
    }

    /// Cancels a pending request; returns true if there was one.
    @discardableResult
    package mutating func cancel(_ identifier: String) -> Bool { pending.removeValue(forKey: identifier) != nil }

    package var runningIdentifiers: [String] { running.keys.sorted() }
    package func isPending(_ identifier: String) -> Bool { pending[identifier] != nil }
    package func isRunning(_ identifier: String) -> Bool { running[identifier] != nil }
    package func request(_ identifier: String) -> TaskRequest? { pending[identifier]?.request }
    package func history(_ identifier: String) -> TaskHistory { past[identifier] ?? TaskHistory() }
    package func progress(_ identifier: String) -> TaskProgress? { running[identifier]?.progress }
}

/// The results of a task's runs.
package struct TaskHistory: Codable, Sendable, Equatable {
    package enum Outcome: String, Codable, Sendable {
        case succeeded, failed
        /// Its runtime ran out, and it saved and completed.
        case expired
        /// It hadn't completed when its runtime ran out, and was forced to end.
        case overran
        /// By its user.
        case cancelled
    }

    package var runs: Int64 = 0
    /// When the last run began, by the wall clock.
    @OrNull package var lastBegin: Instant?
    /// Microseconds.
    package var lastDuration: Int64 = 0
    @OrNull package var lastOutcome: Outcome?

    package init() {
        lastBegin = nil
        lastOutcome = nil
    }
}

/// The progress of a continued task.
package struct TaskProgress: Codable, Sendable, Equatable {
    package var done: Int64
    package var total: Int64

    package init(done: Int64, total: Int64) { (self.done, self.total) = (done, total) }
}
