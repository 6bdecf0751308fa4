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
    let endpoint = try DashboardAddress.endpoint(of: context.instance)
    guard endpoint.isLoopback || options["plainHTTP"].bool == true else {
        throw Failure(
            "\(context.name) would listen at \(endpoint.host), where anybody on the way reads along",
            hint: "set 'plainHTTP' where a proxy that speaks TLS or a container's network is in between")
    }
    let log = context.log
    let stack = try Stack(state: context.state, configuration: context.stack, configurationFile: nil)
    let consolidator = try stack.instance(.consolidator)
    let series = SeriesKeeper(consolidator: consolidator, figures: context.stack.figures)
    let client = try StackClient(
        address: context.address, hears: ([.exact("daily.summary")], { series.hear($0) }))
    let gate = TokenGate(TokenFile(context.state))
    let dashboard = Dashboard(
        .init(
            stack: stack,
            files: PageFiles(
                root: context.instance.manifest.folder + "/page",
                others: ["/lib/chart.js": options["chartFile"].string ?? ""]),
            rule: SiteRule(hosts: (options["hosts"].array ?? []).compactMap(\.string)),
            door: FrontDoor(isOpen: options["open"].bool ?? endpoint.isLoopback, now: { MonotonicClock.now }) {
                secret in
                guard
                    case .granted(let grant) = try gate.answer(to: secret, now: WallClock.now, at: MonotonicClock.now)
                else { return nil }
                return grant
            },
            series: series, client: client, clock: { WallClock.now },
            failed: { log(.dashboardFailed, ["what": $0, "why": "\($1)"]) }))

    var limits = HTTPServer.Limits()
    limits.threads = 8
    limits.connections = 128
    limits.connectionsPerAddress = 128
    limits.bodyBytes = 64 << 10
    let server = try HTTPServer(
        host: endpoint.host, port: endpoint.port,
        // Two stacks run side by side by default; a port that somebody has chosen is that one or none.
        portTries: endpoint.port == DashboardAddress.usualPort ? 20 : 1, limits: limits
    ) { dashboard.handle($0) }
    if server.port != endpoint.port, endpoint.port != 0 {
        log(.dashboardMoved, ["wanted": endpoint.port, "port": server.port])
    }
    log(.dashboardListening, ["port": server.port])
    series.start(
        { stack.reader(over: client) }, changed: { _ in },
        failed: { log(.dashboardFailed, ["what": "days", "why": "\($0)"]) })
    let member = try BusMember(context, details: { HeartbeatDetails(DashboardDetails(dashboardPort: server.port)) })
    stopper.wait()
    server.stop()
    series.stop()
    client.close()
    member.leave()
}
