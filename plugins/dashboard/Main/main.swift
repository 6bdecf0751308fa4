import Client
import Clocks
import Configuration
import DashboardStage
import Dispatch
import HTTP
import HealthModel
import Inspection
import Logging
import MessageBus
import Protocol
import StageKit
import Synchronization

PluginProgram.start("dashboard") { context, stopper in
    let options = context.configuration
    let endpoint = try ServerPort.dashboard.endpoint(of: context.instance)
    if let problem = DashboardAddress.problem(options, at: endpoint) {
        throw Failure("\(context.name) \(problem.what)", hint: problem.remedy)
    }
    let log = context.log
    let stack = try Stack(state: context.state, configuration: context.stack, configurationFile: nil)
    let consolidator = try stack.instance(.consolidator)
    let series = SeriesKeeper(consolidator: consolidator, figures: context.stack.figures)
    let counter = TopicCounter()
    let client = try StackClient(
        address: context.address,
        hears: (
            TopicCounter.subscriptions,
            { message in
                series.hear(message)
                counter.count(message)
            }
        ))
    let taps = TapStreams(context.address)
    let waiting = ChangesWaiting()
    let live = LivePages(stack, client, counter, taps: taps)
    let folder = context.folder + "/files"
    try StateFolder.make(folder)
    // Removes the files that an earlier process received but didn't pass on.
    FileReceiver.removeLeftovers(in: folder)
    let uses = TokenUses(folder: context.folder)
    let gate = TokenGate(TokenFile(context.state), noting: uses)
    let tickets = SignInTickets(context.state)
    let dashboard = Dashboard(
        .init(
            stack: stack,
            files: PageFiles(
                root: context.instance.manifest.folder + "/page",
                others: ["/lib/chart.js": options["chartFile"].string ?? ""]),
            rule: SiteRule(hosts: (options["hosts"].array ?? []).compactMap(\.string)),
            door: FrontDoor(
                isOpen: DashboardAddress.isOpen(options), now: { MonotonicClock.now },
                redeem: { tickets.redeem($0, now: WallClock.now) }
            ) {
                secret in
                guard
                    case .granted(let grant) = try gate.answer(
                        to: secret, now: WallClock.now, at: MonotonicClock.now)
                else { return nil }
                return grant
            },
            series: series, live: live, taps: taps, client: client, waiting: waiting, folder: folder,
            clock: { WallClock.now },
            failed: { log(.dashboardFailed, ["what": $0, "why": "\($1)"]) }))

    var limits = HTTPServer.Limits()
    limits.threads = 8
    limits.connections = 128
    limits.connectionsPerAddress = 128
    limits.bodyBytes = 64 << 10
    // Dropped files are as large as those that the ingest takes.
    limits.streams = 4
    limits.streamSeconds = 6 * 3600
    let server = try HTTPServer(
        host: endpoint.host, port: endpoint.port,
        // If the usual port is taken, the next one is tried, so that two stacks can run side by side; a port that a
        // person has chosen is used as it is, or not at all.
        portTries: endpoint.port == ServerPort.dashboard.usualPort ? 20 : 1, limits: limits,
        admission: { dashboard.admission(of: $0) }
    ) { dashboard.handle($0) }
    if server.port != endpoint.port, endpoint.port != 0 {
        log(.dashboardMoved, ["wanted": endpoint.port, "port": server.port])
    }
    log(.dashboardListening, ["port": server.port])
    series.start(
        .init(
            // Pages wait for it; an idle process answers within milliseconds.
            reader: { stack.reader(over: client, patience: 3) }, isWatched: { live.viewers > 0 },
            changed: { live.changed($0) },
            failed: { log(.dashboardFailed, ["what": "days", "why": "\($0)"]) }))
    live.start()
    if let observer = context.stack.only(.observer) { waiting.start(client, observer: observer.name) }
    let member = try BusMember(
        context,
        details: {
            HeartbeatDetails(DashboardDetails(dashboardPort: server.port, viewers: live.viewers))
        })
    let stopped = DispatchSemaphore(value: 0)
    stopper.whenAsked { stopped.signal() }
    func saveUses() {
        uses.save { log(.dashboardFailed, failed: true, ["what": "token-use.json", "why": "\($0)"]) }
    }
    while stopped.wait(timeout: .now() + 10) == .timedOut { saveUses() }
    saveUses()
    live.stop()
    waiting.stop()
    server.stop()
    series.stop()
    client.close()
    member.leave()
}
