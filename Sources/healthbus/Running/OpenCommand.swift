import Client
import Clocks
import Configuration
import Foundation
import Inspection
import Logging
import Protocol
import Terminal

enum OpenCommand: Command {
    static let help = CommandHelp(
        name: "healthbus open",
        summary:
            "Open the stack's page in a browser and sign it in, or print a link that does.",
        options: CommandHelp.stackOptions, examples: ["healthbus open"])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        guard let dashboard = stack.configuration.only(.dashboard) else {
            throw Failure(
                "this stack has no dashboard", hint: "add an instance of the dashboard plugin to its configuration")
        }
        try stack.requireRunning()
        guard let reported = try stack.reader().gather([dashboard.name], within: 3)[dashboard.name]?.beat.dashboard
        else {
            throw Failure(
                "'\(dashboard.name)' isn't heard", hint: "'healthbus logs \(dashboard.name)' says why it isn't running")
        }
        let url = DashboardAddress.url(try ServerPort.dashboard.endpoint(of: dashboard), port: reported.dashboardPort)
        guard !DashboardAddress.isOpen(dashboard.configuration) else { return try show(url, in: url) }
        guard InstanceLock.isHeld(folder: stack.state.instance(dashboard.name)) else {
            throw Failure(
                "'\(dashboard.name)' keeps its state elsewhere: it admits only whoever may write there",
                hint: "run 'healthbus open' where it runs, with its state folder")
        }
        let link = DashboardAddress.link(url, ticket: try SignInTickets(stack.state).make(now: WallClock.now))
        try show(link, in: redirection(to: link, stack.state))
    }

    /// Prints the link, and opens it if there is a browser.
    /// - Parameter address: what the browser is given; read only if there is one.
    private static func show(_ link: String, in address: @autoclosure () throws -> String) throws {
        StandardStream.output.write(link + "\n")
        guard let opener = opener() else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: opener)
        process.arguments = [try address()]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch {
            throw Failure("\(opener) can't be started: \(error)", hint: "open the address above in a browser")
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure("\(opener) found no browser", hint: "open the address above in one")
        }
    }

    /// The command that opens a browser; nil if there is no screen, or no `xdg-open` on `PATH`.
    private static func opener(environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        guard ["DISPLAY", "WAYLAND_DISPLAY"].contains(where: { environment[$0]?.isEmpty == false }) else { return nil }
        return (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/xdg-open" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Writes a file that leads a browser to a link. Other accounts can read a program's arguments, so a link with a
    /// ticket is none of them.
    /// - Returns: the file's address.
    private static func redirection(to link: String, _ state: StateFolder) throws -> String {
        let path = state.secrets + "/open.html"
        try PrivateFile.write(
            "<!doctype html><title>healthbus</title><meta http-equiv=\"refresh\" content=\"0; url=\(link)\">\n",
            to: path)
        return URL(fileURLWithPath: path).absoluteString
    }
}
