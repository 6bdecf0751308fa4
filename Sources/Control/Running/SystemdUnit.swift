import Configuration
import Foundation
import Glibc
import Inspection
import Logging

/// The systemd unit that runs a stack. It runs `up` in the foreground, which notifies systemd when the stack is ready.
package struct SystemdUnit {
    package let name: String
    /// Whether the unit belongs to the machine rather than to an account.
    package let isOfMachine: Bool
    /// The path at which systemd looks for the unit.
    package let path: String
    package let text: String
    /// Variables that are set in the shell but aren't in the unit, since they may be secret.
    package let leftOut: [String]

    /// Settings taken from the shell's environment, which a service doesn't have; secrets stay where they are.
    private static let variables = StartOptions.plain + ["HEALTHBUS_ZONE", "HEALTHBUS_PLUGINS", "HEALTHBUS_KEYS"]

    /// - Throws: `Failure` (usage) for a name that systemd wouldn't accept.
    package init(
        _ stack: Stack, name: String, isOfMachine: Bool,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(Failure) {
        let plain = name.utf8.allSatisfy { byte in
            (97...122).contains(byte) || (65...90).contains(byte) || (48...57).contains(byte)
                || "-_.".utf8.contains(byte)
        }
        guard plain, !name.isEmpty, name.utf8.count <= 64 else {
            throw .usage("--name can't be \"\(name)\"", hint: "use only letters, digits, '-', '_' and '.'")
        }
        (self.name, self.isOfMachine) = (name, isOfMachine)
        let home = environment["HOME"] ?? NSHomeDirectory()
        let settings = environment["XDG_CONFIG_HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? home + "/.config"
        path = (isOfMachine ? "/etc/systemd/system/" : settings + "/systemd/user/") + name + ".service"
        var words = [Self.program, "up", "--state", stack.state.path]
        if let file = stack.configurationFile { words += ["--config", file] }
        let addresses = Set(stack.declarations.compactMap(\.variable))
        let variables = Self.variables + addresses.subtracting(Self.variables).sorted()
        let set = variables.compactMap { variable in
            environment[variable].flatMap {
                $0.isEmpty ? nil : "Environment=\(Self.quoted("\(variable)=\($0)", isCommand: false))\n"
            }
        }
        leftOut = StartOptions.variables(in: environment).filter { !variables.contains($0) }
        text = """
            [Unit]
            Description=healthbus on \(stack.state.path.replacing("%", with: "%%"))
            After=network.target

            [Service]
            Type=notify
            ExecStart=\(words.map { Self.quoted($0) }.joined(separator: " "))
            \(set.joined())\(isOfMachine ? "User=\(Self.owner(of: stack.state.path))\n" : "")Restart=on-failure
            RestartSec=10
            # The stack stops its processes itself, in order.
            KillMode=mixed
            TimeoutStartSec=180
            TimeoutStopSec=30
            NoNewPrivileges=true

            [Install]
            WantedBy=\(isOfMachine ? "multi-user.target" : "default.target")

            """
    }

    /// Whether this machine was booted with systemd, determined as sd_booted(3) does.
    package static var isSystemdRunning: Bool { FileManager.default.fileExists(atPath: "/run/systemd/system") }

    /// Writes it.
    /// - Returns: whether it replaced a healthbus unit with different content.
    /// - Throws: `Failure` when the unit can't be written, or when another program's unit has that name.
    package func install() throws(Failure) -> Bool {
        var isReplaced = false
        if let old = FileManager.default.contents(atPath: path), String(decoding: old, as: UTF8.self) != text {
            guard String(decoding: old, as: UTF8.self).contains("Description=healthbus on ") else {
                throw Failure("\(path) already exists, and isn't healthbus's", hint: "choose another name with --name")
            }
            isReplaced = true
        }
        do {
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw Failure(
                "can't write \(path)",
                hint: isOfMachine
                    ? "as root, or without --system for your account alone" : "check the folder's permissions")
        }
        return isReplaced
    }

    private static var program: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "healthbus"
    }

    /// The account that the stack belongs to; if there is no stack yet, the caller's.
    private static func owner(of folder: String) -> String {
        var status = stat()
        let account = stat(folder, &status) == 0 ? status.st_uid : getuid()
        return getpwuid(account).map { String(cString: $0.pointee.pw_name) } ?? "\(account)"
    }

    /// Quotes one word of a line in a unit: systemd interprets % and, in commands, $.
    private static func quoted(_ word: String, isCommand: Bool = true) -> String {
        let text = word.replacing("%", with: "%%")
        let isPlain = text.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || "0123456789/._-+:@,=%~".unicodeScalars.contains($0)
        }
        if isPlain { return text }
        return "\"" + text.map { "\"\\".contains($0) ? "\\\($0)" : isCommand && $0 == "$" ? "$$" : String($0) }.joined()
            + "\""
    }
}
