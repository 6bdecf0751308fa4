import BackgroundDelivery
import Changelog
import Configuration
import HealthModel
import Protocol
import StageKit

/// The task `consolidated-daily`: from one minute past local midnight, it finalizes every day that is over. That time
/// is only a lower bound, and a late or repeated run finalizes the same days.
struct DailyTask {
    static let identifier = "consolidated-daily"

    struct Options {
        var launcher = TaskScheduler.Launcher.own
        var needsNetwork = false
        var needsPower = false
    }

    let options: Options
    var host: TaskHost
    var device = DeviceState()
    /// When (by the wall clock) the current run began to wait for a later mark; nil when no run is in progress.
    private(set) var began: Instant?
    private(set) var tasks: [ScheduledTask]?

    init(_ options: Options, permissions: TaskHost.Permissions) {
        self.options = options
        host = TaskHost(
            TaskScheduler(
                permitted: permissions.tasks, backgroundModes: permissions.backgroundModes,
                launcher: options.launcher))
    }

    mutating func open(_ turn: Turn) throws {
        try TaskHost.createTables(in: try turn.write().database)
        try host.register(Self.identifier, .processing)
        try host.open(turn)
    }

    func conditions(_ turn: Turn) -> TaskConditions {
        TaskConditions(now: turn.now, monotonic: turn.monotonic, device: device)
    }

    /// Submits the next run, and begins and ends whatever is due. Returns true when a run has begun.
    mutating func advance(_ timelines: [ZoneTimeline], _ turn: Turn) throws -> Bool {
        let conditions = conditions(turn)
        let moves = host.due(conditions, turn)
        if !moves.begun.isEmpty { began = turn.now }
        for identifier in moves.expiring {
            began = nil
            host.complete(identifier, success: false, conditions, turn)
        }
        if !moves.ended.isEmpty { began = nil }
        // The next run is submitted even during a run, since every run begins by submitting the next one.
        if host.isToBeSubmitted(Self.identifier)
            || (!moves.begun.isEmpty && !host.scheduler.isPending(Self.identifier)),
            let next = timelines.compactMap({ $0.nextDayIsOver(after: turn.now) }).min()
        {
            try host.submit(
                TaskRequest(
                    Self.identifier, earliestBegin: next, requiresNetwork: options.needsNetwork,
                    requiresPower: options.needsPower), conditions, turn)
        }
        return !moves.begun.isEmpty
    }

    /// Notes that a mark has been reached, so that the days that were over when it was sent are final.
    mutating func reached(markOf heardAt: Instant, _ turn: Turn) {
        guard let began, heardAt >= began else { return }
        self.began = nil
        host.complete(Self.identifier, success: true, conditions(turn), turn)
    }

    mutating func finishTurn(_ turn: Turn) throws {
        try host.save(turn)
        tasks = host.scheduler.tasks(conditions(turn))
    }
}

extension ConsolidatorStage {
    package convenience init(stack: StackConfiguration, instance: StackConfiguration.Instance) throws {
        let rights = instance.manifest.rights
        guard rights.permittedTasks.contains(DailyTask.identifier) else {
            throw ConfigurationError(
                file: instance.manifest.file, key: "permittedTasks", reason: "must contain '\(DailyTask.identifier)'")
        }
        try instance.manifest.requireTasks(among: [DailyTask.identifier])
        var options = DailyTask.Options()
        options.launcher =
            instance.configuration["launch"].string.flatMap(TaskScheduler.Launcher.init(rawValue:)) ?? .own
        options.needsNetwork = instance.configuration["tasksNeedNetwork"].bool ?? false
        options.needsPower = instance.configuration["tasksNeedPower"].bool ?? false
        self.init(
            instance: instance.name, observer: stack.only(.observer)?.name ?? "observer",
            handlers: stack.handlers.map(\.name), options: options,
            permissions: .init(rights),
            significance: SignificantChange(
                (instance.configuration["significantChange"].object ?? [:]).compactMapValues(\.double)))
    }

    /// Creates a consolidator whose task is permitted.
    package convenience init(observer: String, handlers: [String], significance: SignificantChange = .any) {
        self.init(
            instance: "consolidator", observer: observer, handlers: handlers, options: .init(),
            permissions: .init(tasks: [DailyTask.identifier], backgroundModes: ["processing"]),
            significance: significance)
    }
}
