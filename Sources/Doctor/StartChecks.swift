import Configuration
import Foundation
import Glibc
import HealthModel
import Logging
import Processes
import StageKit

/// Has each program of a stack report whether it could start, using the code that it starts with, so that `up` refuses
/// nothing that `validate` passes. Nothing in the stack is started or changed.
struct StartChecks {
    let state: StateFolder
    let stack: StackConfiguration
    let catalog: PluginCatalog
    let configurationFile: String?

    /// What is wrong, with each problem listed only once, however many programs report it.
    func findings() -> [Finding] {
        // All programs are checked at once: each check takes a moment, and none depends on another.
        let running = stack.instances.map { instance in (instance, Result { try start(instance) }) }
        var found: [Finding] = []
        for (instance, started) in running {
            do {
                guard let new = try end(try started.get(), instance) else { continue }
                if !found.contains(where: { $0.what == new.what && $0.key == new.key }) { found.append(new) }
            } catch {
                let failure = Failure(of: error)
                found.append(
                    Finding(
                        .error, instance.name, "can't be checked: \(failure.message)",
                        remedy: failure.hint ?? "build all programs into one folder"))
            }
        }
        return found
    }

    private func start(_ instance: StackConfiguration.Instance) throws -> (child: ChildProcess, output: FileHandle) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw Failure("can't make a pipe: \(String(cString: strerror(errno)))", hint: "try again")
        }
        defer { close(ends[1]) }
        let output = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        var words = ["--state", state.path, "--instance", instance.name, "--plugin", instance.plugin, "--check"]
        if let configurationFile { words += ["--config", configurationFile] }
        let spec = ProcessSpec(
            name: instance.name, executable: catalog.program(instance.manifest), arguments: words,
            // The log level is checked separately; otherwise each program would report it.
            environment: ["HEALTHBUS_PLUGINS": catalog.folder, "HEALTHBUS_LOG": "", "HEALTHBUS_LOG_LEVEL": ""],
            streams: .init(output: ends[1], errorFile: "/dev/null"))
        return (try ChildProcess(spec, trampoline: ChildProcess.trampolineBesideProgram()), output)
    }

    private func end(
        _ started: (child: ChildProcess, output: FileHandle), _ instance: StackConfiguration.Instance
    ) throws -> Finding? {
        let text = try started.output.readToEnd() ?? Data()
        let exit = started.child.wait()
        if exit.isSuccess { return nil }
        guard let check = (try? Value(json: Array(text))).flatMap({ $0.read(StartCheck.self) }) else {
            return Finding(
                .error, instance.name, "can't start: its program ended with \(exit)",
                remedy: "'healthbus run \(instance.name)' shows what it says")
        }
        let isPlaced = check.file != nil
        return Finding(
            .error, check.file ?? instance.name, key: check.key, line: check.line, check.what,
            remedy: check.remedy
                ?? (isPlaced ? "correct it in the file; docs/configuration.md lists the options" : "correct that"))
    }
}
