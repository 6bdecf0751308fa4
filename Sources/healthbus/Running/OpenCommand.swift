import Client
import Configuration
import Foundation
import HealthModel
import Inspection
import Logging
import Protocol
import Terminal

enum OpenCommand: Command {
    static let help = CommandHelp(
        name: "healthbus open",
        summary: "Open the stack's page in a browser, or print its address if there is none.",
        options: CommandHelp.stackOptions, examples: ["healthbus open"])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        guard let dashboard = DashboardAddress.instance(in: stack.configuration) else {
            throw Failure(
                "this stack has no dashboard", hint: "add an instance of the dashboard plugin to its configuration")
        }
        try stack.requireRunning()
        guard let told = try stack.reader().gather([dashboard.name], within: 3)[dashboard.name]?.beat.dashboard else {
            throw Failure(
                "'\(dashboard.name)' isn't heard", hint: "'healthbus logs \(dashboard.name)' says why it isn't running")
        }
        let url = DashboardAddress.url(try DashboardAddress.endpoint(of: dashboard), port: told.dashboardPort)
        StandardStream.output.write(url + "\n")
        guard let opener = opener() else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: opener)
        process.arguments = [url]
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
}
