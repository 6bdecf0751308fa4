import BackgroundDelivery
import Configuration
import HealthModel
import Logging

/// The debouncer's options.
package struct DebouncerConfiguration: Sendable {
    /// What a background wake does with fired types.
    package enum Background: String, Sendable, CaseIterable {
        /// They are added to the pending set, and the task `healthkit-sync` is submitted.
        case task
        /// They are released within the wake.
        case sync
    }

    package var policy: ReleaseWindow.Policy
    package var background = Background.task
    package var launcher = TaskScheduler.Launcher.own
    /// The frequency requested from the observer, by type or "*".
    package var frequencies: [String: String] = ["*": DeliveryFrequency.immediate.name]
    /// The minimum time between runs of each repeating task; a task that isn't listed isn't scheduled.
    package var intervals: [DebouncerTask: Duration] = [:]
    /// The local hour; one minute past it the energy is computed again. nil: never.
    package var dailyEnergyHour: Int?
    package var tasksNeedNetwork = false
    package var tasksNeedPower = false
    /// Processing tasks wait while this machine is low on battery, or busy.
    package var tasksNeedIdle = false
    package var roundPatience = Duration.seconds(120)

    package init(policy: ReleaseWindow.Policy) { self.policy = policy }
}

/// The tasks hosted by the debouncer, by identifier.
package enum DebouncerTask: String, Sendable, CaseIterable {
    case healthkitSync = "healthkit-sync"
    case remoteSync = "remote-sync"
    case dailyEnergy = "daily-energy"
    case notificationCheck = "notification-check"
    case historical
    case catchUp = "catch-up"
    case refresh

    var kind: TaskKind {
        switch self {
        case .historical: .continued
        case .refresh: .refresh
        default: .processing
        }
    }
}

extension DebouncerConfiguration {
    /// Reads the options accepted by the manifest's schema.
    /// - Parameter metrics: the types of each metric (a handler's instance); `windows`, `maximumWaits` and
    ///   `frequencies` may name a metric instead of a type.
    /// - Throws: `ConfigurationError`, which says what is allowed.
    init(_ value: Value, file: String, key: String, metrics: [String: Set<String>]) throws {
        try Self.requireKnownSubjects(value, file: file, key: key, metrics)
        func seconds(_ value: Value) -> Duration { .seconds(value.double ?? 0) }
        func byType(_ name: String) -> [String: Duration] {
            var times: [String: Duration] = [:]
            let given = value[name].object ?? [:]
            // A setting for a type takes precedence over one for its metric.
            for (subject, time) in given {
                guard let types = metrics[subject] else { continue }
                for type in types { times[type] = seconds(time) }
            }
            for (subject, time) in given where metrics[subject] == nil {
                times[subject] = seconds(time)
            }
            return times
        }
        self.init(
            policy: ReleaseWindow.Policy(
                window: seconds(value["windowSeconds"]), maximumWait: seconds(value["maximumWaitSeconds"]),
                byType: byType("windows"), maximumByType: byType("maximumWaits"),
                importWait: seconds(value["importWaitSeconds"])))
        background = value["background"].string.flatMap(Background.init(rawValue:)) ?? .task
        launcher = value["launch"].string.flatMap(TaskScheduler.Launcher.init(rawValue:)) ?? .own
        for (subject, frequency) in value["frequencies"].object ?? [:] {
            guard let name = frequency.string else { continue }
            if subject == "*" {
                frequencies[subject] = name
            } else if let types = metrics[subject] {
                for type in types where frequencies[type] == nil && ObserverRegistrations.canWake(type) {
                    frequencies[type] = name
                }
            } else {
                frequencies[subject] = name
            }
        }
        func interval(_ name: String, _ unit: Duration) -> Duration? {
            value[name].double.flatMap { $0 > 0 ? unit * $0 : nil }
        }
        let minute = Duration.seconds(60)
        intervals[.remoteSync] = interval("remoteSyncMinutes", minute)
        intervals[.notificationCheck] = interval("notificationCheckMinutes", minute)
        intervals[.refresh] = interval("refreshMinutes", minute)
        if value["strategy"].string == "combined" { intervals[.catchUp] = interval("catchUpHours", minute * 60) }
        dailyEnergyHour = value["dailyEnergyHour"].int.map { Int($0) }
        tasksNeedNetwork = value["tasksNeedNetwork"].bool ?? false
        tasksNeedPower = value["tasksNeedPower"].bool ?? false
        tasksNeedIdle = value["tasksNeedIdle"].bool ?? false
        if let seconds = value["roundPatienceSeconds"].double { roundPatience = .seconds(seconds) }
    }

    /// Requires that all options for single types name types or metrics.
    /// - Throws: `ConfigurationError` for the first name that is neither; its reason lists the others.
    private static func requireKnownSubjects(
        _ value: Value, file: String, key: String, _ metrics: [String: Set<String>]
    ) throws {
        let names = metrics.keys.sorted()
        let unknown = ["windows", "maximumWaits", "frequencies"].flatMap { option in
            (value[option].object ?? [:]).keys.sorted().filter { subject in
                metrics[subject] == nil && HealthType.known(subject) == nil
                    && !(option == "frequencies" && subject == "*")
                    && !metrics.values.contains { $0.contains(subject) }
            }.map { (key: "\(option).\($0)", subject: $0) }
        }
        guard let first = unknown.first else {
            guard
                let correlation = (value["frequencies"].object ?? [:]).keys.sorted().first(where: {
                    metrics[$0] == nil && !ObserverRegistrations.canWake($0)
                })
            else { return }
            throw ConfigurationError(
                file: file, key: "\(key).frequencies.\(correlation)",
                reason: "can't be set: HealthKit doesn't deliver correlations in the background; they come along with"
                    + " the types of their parts")
        }
        func meant(_ subject: String) -> String? {
            HealthType.nearest(to: subject) ?? Nearest.to(subject, among: names)
        }
        let others = unknown.dropFirst().map { other in
            "'\(other.key)'" + (meant(other.subject).map { " (did you mean \($0)?)" } ?? "")
        }
        throw ConfigurationError(
            file: file, key: "\(key).\(first.key)",
            reason: "isn't known; " + (meant(first.subject).map { "did you mean \($0)? " } ?? "")
                + "Use HealthKit's type identifiers and the metrics \(names.joined(separator: ", "))"
                + (others.isEmpty ? "" : ". Nor is \(others.joined(separator: ", nor "))"))
    }

    /// Tasks that this configuration schedules, or allows to be submitted.
    var tasks: Set<DebouncerTask> {
        var tasks: Set<DebouncerTask> = [.healthkitSync, .historical]
        tasks.formUnion(intervals.keys)
        if dailyEnergyHour != nil { tasks.insert(.dailyEnergy) }
        return tasks
    }
}
