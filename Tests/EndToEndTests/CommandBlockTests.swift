import Foundation
import Glibc
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Every block of commands in README and docs runs unchanged, in a new home. A block that can't be run here states
    /// the reason, which is checked.
    @Suite struct CommandBlockTests {
        /// All pages except those with a test of their own, which follows the page from its first command to a figure.
        private static let pages = CommandBlock.pages.filter {
            $0 != "docs/first-plugin.md" && $0 != "docs/plugin-fixtures.md"
        }

        @Test(arguments: pages) func eachRunsInANewHome(_ page: String) async throws {
            let blocks = try CommandBlock.all(of: page).filter { $0.language == "sh" && $0.reasonNotToRun == nil }
            let commands = blocks.flatMap { block in block.commands.map { (place: block.place, text: $0) } }
            try Self.holdTargets(commands)
            let runnable = commands.filter { !$0.text.contains(Self.make) }
            guard !runnable.isEmpty else { return }
            try await withStack { stack in
                let home = try await DocumentedHome(stack)
                for (place, command) in runnable { try await home.run(command, at: place) }
                try await home.end()
            }
        }

        /// Commands appear only in blocks that are run, which are marked `sh`.
        @Test(arguments: CommandBlock.pages) func noCommandHides(_ page: String) throws {
            for block in try CommandBlock.all(of: page) where block.language.isEmpty {
                let hidden = block.text.firstMatch(of: #/(?m)^ *(healthbus|make|docker|docker-compose|curl|psql) .*$/#)
                #expect(hidden == nil, "\(block.place): mark the block as sh")
            }
        }

        @Test(arguments: CommandBlock.pages) func whatIsNotRunCannotBe(_ page: String) throws {
            for block in try CommandBlock.all(of: page) {
                guard let reason = block.reasonNotToRun else { continue }
                let needed = try #require(CommandBlock.reasons[reason], "\(block.place): unknown reason '\(reason)'")
                #expect(block.text.contains(needed), "\(block.place): it doesn't need \(reason)")
                if reason == "containers" { try Self.holdServices(block) }
            }
        }

        private static var make: Regex<(Substring, Substring)> { #/\bmake (?:-s )?([a-z-]+)/# }

        /// Commands that would build or measure for minutes aren't run, but their targets must exist.
        private static func holdTargets(_ commands: [(place: String, text: String)]) throws {
            let makefile = try String(contentsOfFile: Programs.checkout + "/Makefile", encoding: .utf8)
            for command in commands {
                for match in command.text.matches(of: make) {
                    #expect(
                        makefile.contains(try Regex("(?m)^\(match.1):")), "\(command.place): no target \(match.1)")
                }
            }
        }

        /// The services that a block names are in docker-compose.yml.
        private static func holdServices(_ block: CommandBlock) throws {
            let file = try String(contentsOfFile: Programs.checkout + "/docker-compose.yml", encoding: .utf8)
            let services = Set(file.matches(of: #/(?m)^  ([a-z-]+):/#).map { String($0.1) })
            let verbs: Set = ["up", "down", "stop", "start", "run", "exec", "rm", "logs", "pull"]
            for line in block.commands {
                guard let match = line.firstMatch(of: #/docker-compose (?:--profile [a-z]+ )?(.*)/#) else { continue }
                let words = match.1.split(separator: " ").map(String.init)
                #expect(words.first.map(verbs.contains) == true, "\(block.place): \(line)")
                let named = words.dropFirst().first { !$0.hasPrefix("-") && $0.allSatisfy { $0.isLetter || $0 == "-" } }
                if let named { #expect(services.contains(named), "\(block.place): there is no service \(named)") }
            }
        }
    }
}

/// A new home with a running stack, where the commands of a page are run one after another.
private final class DocumentedHome {
    private let stack: TestStack
    private let environment: [String: String]
    private let folder: String
    private let up: Command
    private let monitorPort: Int
    /// The port for the backend of a second stack beside the page's.
    private let secondPort: Int
    /// Variables that were set by earlier commands of the page.
    private var variables: [String] = []
    private var count = 0
    /// The environment of a stack that the page has left running in the background.
    private var detached: [String: String]?

    init(_ stack: TestStack) async throws {
        self.stack = stack
        folder = stack.path("work")
        monitorPort = try freePort()
        secondPort = try freePort()
        let home = stack.path("home")
        for made in [folder, home + "/.local/state", home + "/Downloads", stack.state] {
            try FileManager.default.createDirectory(
                atPath: made, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        // The default location of a person's state folder.
        try FileManager.default.createSymbolicLink(
            atPath: home + "/.local/state/healthbus", withDestinationPath: stack.state)
        let export = try await stack.generate("work/export.zip", "--days", "14", "--seed", "2")
        try FileManager.default.copyItem(atPath: export, toPath: home + "/Downloads/export.zip")
        _ = try stack.write(
            "work/my.json", #"{"instances": {"debouncer": {"configuration": {"windowSeconds": 0}}}}"#)
        environment = [
            "HOME": home, "PATH": "\(Programs.folder):/usr/bin:/bin", "HEALTHBUS_STATE": stack.state, "TERM": "dumb",
        ]
        up = try await stack.upAndReady()
        #expect(try await stack.onState("import", export).exit == .code(0))
        #expect(try await stack.onState("sync", within: 60).exit == .code(0))
    }

    func end() async throws {
        if let detached { _ = try await stack.start(["stop"], environment: detached).ended(within: 60) }
        try await stack.interrupt(up)
    }

    /// Replaces the folders and addresses that pages use as examples.
    private func placed(_ command: String) -> String {
        command.replacing("/srv/", with: stack.path("srv-")).replacing("/mnt/", with: stack.path("mnt-"))
            .replacing("127.0.0.1:8787", with: "127.0.0.1:\(stack.port)")
            .replacing("9464", with: "\(monitorPort)").replacing("PORT=8797", with: "PORT=\(secondPort)")
            .replacing("127.0.0.1:8788", with: "127.0.0.1:\(stack.ingestPort)")
    }

    func run(_ documented: String, at place: String) async throws {
        let command = placed(documented)
        count += 1
        var more = environment
        let starts = command.contains(#/\bhealthbus (up|demo|restore|simulate)\b/#)
        if starts {
            // The page's stack keeps running, so this one gets its own state folder and ports.
            more["HEALTHBUS_STATE"] = stack.path("s-own-\(count)")
            more["HEALTHBUS_BACKEND_PORT"] = "\(try freePort())"
            more["HEALTHBUS_INGEST_PORT"] = "\(try freePort())"
            if command.contains("--detach") { detached = more }
        } else if let detached, command.contains(#/^healthbus (stop|start)\s*(#.*)?$/#) {
            more = detached
        }
        let goesOn = command.contains(#/\bhealthbus (top|tap|monitor)\b|--follow\b/#) && !command.contains("--once")
        let lines = ["set -e", "cd \(folder)"] + variables + [starts || goesOn ? "exec env \(command)" : command]
        let script = try stack.write("command-\(count).sh", lines.joined(separator: "\n") + "\n")
        let run = try await stack.start(program: "/bin/sh", [script], environment: more)
        if starts || goesOn {
            try await until("'\(documented)' ends or is ready", within: 600) {
                if !run.isRunning || (!run.output.isEmpty && goesOn) { return true }
                if starts && !command.contains(#/--until-idle|--detach/#) && run.error.contains("processes are ready") {
                    return true
                }
                if command.contains("healthbus monitor") && run.error.contains("metrics") { return true }
                // A tap prints nothing until something happens.
                if command.contains("healthbus tap") { try await importSomethingNew() }
                return false
            }
            if run.isRunning { run.child.signal(SIGINT) }
        }
        let ended = try await run.ended(within: 600)
        let said = "\(place): \(documented)\n\(ended.output.suffix(1500))\n\(ended.error.suffix(1500))"
        if let allowed = Self.namesAnExample(documented) {
            #expect(ended.exit == .code(allowed), "\(said)")
        } else if !goesOn {
            #expect(ended.exit == .code(0), "\(said)")
        }
        for word in ["unknown option", "unknown command", "unexpected", "not found", "needs a"] {
            #expect(!ended.error.contains(word), "\(said)")
        }
        if command.contains(#/^(export )?[A-Z_]+=\S*$|^[A-Z_]+=\$\(/#) { variables.append(command) }
    }

    private func importSomethingNew() async throws {
        count += 1
        let file = try await stack.generate("work/new-\(count).zip", "--days", "2", "--seed", "\(count)")
        #expect(try await stack.onState("import", file).exit == .code(0))
    }

    /// A new home has no such entry, so the command reports that and exits with status 1.
    private static func namesAnExample(_ command: String) -> Int32? {
        command.contains(
            #/\b(8c1f|k3m9x2ab|019b60cc)\b|(quarantine|dead-letters) (show|drop) \d|documents get 3|undo --device/#)
            ? 1 : nil
    }
}
