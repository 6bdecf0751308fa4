import Configuration
import Foundation
import Glibc
import Inspection
import Logging
import Terminal

/// Runs one process in the foreground: the command's own process is replaced by it.
enum RunCommand: Command {
    static let help = CommandHelp(
        name: "healthbus run",
        summary: "Run one process of the stack (as status names it) in the foreground.",
        positionals: [.init("instance")],
        options: CommandHelp.stackOptions + [
            .init("--plugin", value: "plugin", help: "this plugin, instead of the configured one"),
            .init("--standby", help: "wait for the running one to end"),
            .init("--takeover", help: "end the running one and take its place"),
            .init("--force", help: "without trying out another plugin first"),
        ],
        examples: ["healthbus run steps --takeover"])

    static func run(_ arguments: Arguments) throws {
        let name = arguments.positionals.first ?? ""
        // A container's variable may be empty.
        let plugin = arguments.value("--plugin").flatMap { $0.isEmpty ? nil : SwapCommand.plugin($0) }
        let stack = try Stack(arguments, choices: plugin.map { [name: .plugin($0)] } ?? [:])
        let instance = try stack.named(name, listed: true)
        let program = stack.catalog.program(instance.manifest)
        var words = [program, "--state", stack.state.path, "--instance", name]
        if let file = stack.configurationFile { words += ["--config", file] }
        if let plugin { words += ["--plugin", plugin] }
        for flag in ["--standby", "--takeover", "--force"] where arguments.flag(flag) { words.append(flag) }
        setenv("HEALTHBUS_PLUGINS", stack.catalog.folder, 1)
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        pointers.append(nil)
        // Raising the niceness needs no privilege, so this can't fail.
        _ = nice(Int32(instance.manifest.priority.niceness))
        execv(program, pointers)
        let reason = String(cString: strerror(errno))
        throw Failure("can't run \(program): \(reason)", hint: "'make build' builds all programs into one folder")
    }
}
