import Control
import Foundation
import Glibc
import Inspection
import Logging
import Terminal

enum ServiceCommand: Command {
    static let help = CommandHelp(
        name: "healthbus service",
        summary: "Let systemd run the stack: print the unit, or write it where systemd looks.",
        positionals: [.init("show|install")],
        options: CommandHelp.stackOptions + [
            .init("--system", help: "a unit for the machine, instead of one for your account"),
            .init("--name", value: "name", help: "the unit's name, for several stacks (default: healthbus)"),
        ],
        examples: ["healthbus service show", "healthbus service install", "sudo healthbus service install --system"])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        let unit = try SystemdUnit(
            stack, name: arguments.value("--name") ?? "healthbus", isOfMachine: arguments.flag("--system"))
        switch arguments.positionals.first ?? "" {
        case "show": StandardStream.output.write(unit.text)
        case "install":
            let isReplaced = try unit.install()
            let control = unit.isOfMachine ? "systemctl" : "systemctl --user"
            var lines = [
                "wrote \(unit.path)" + (isReplaced ? ", replacing a unit of other content" : "") + "; now",
                "  \(control) daemon-reload", "  \(control) enable --now \(unit.name)",
            ]
            if !unit.isOfMachine {
                lines.append(
                    "  loginctl enable-linger     # keeps it running when you log out, and starts it with the machine")
            }
            if !unit.leftOut.isEmpty {
                lines.append("not in the unit, since they may be secret: \(unit.leftOut.joined(separator: ", "))")
                lines.append("  \(control) edit \(unit.name)     # adds what it needs, as Environment=NAME=VALUE")
            }
            StandardStream.output.write(lines.map { $0 + "\n" }.joined())
            if !SystemdUnit.isSystemdRunning {
                StandardStream.error.write(
                    "healthbus: the unit is written, but nothing starts it: systemd doesn't run here (there is no /run/systemd/system)\n"
                )
            }
        case let other: throw Failure.usage("'service' has no subcommand '\(other)'", hint: "give show or install")
        }
    }
}
