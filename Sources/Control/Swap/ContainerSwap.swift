import Configuration
import Foundation
import Glibc
import HealthModel
import Inspection
import Logging
import Processes
import Protocol
import StageKit

/// Swaps the plugin of an instance that is the first process of this container, where no supervisor runs: the plugin is
/// tried out beside the running one and recorded in the state folder; then the process ends, and whoever keeps the
/// container running starts it again.
package struct ContainerSwap {
    private let stack: Stack
    private let instance: String
    private let process: pid_t

    /// nil unless the instance is this container's first process.
    package init?(_ stack: Stack, instance: String) {
        let first: pid_t = 1
        guard !stack.isUp(), InstanceLock.holder(folder: stack.state.instance(instance)) == Int(first),
            InstanceLock.isHeld(folder: stack.state.instance(instance))
        else { return nil }
        (self.stack, self.instance, process) = (stack, instance, first)
    }

    /// Tries the plugin out and records it.
    /// - Throws: a request that is refused before anything happens.
    package func swap(_ wish: SwapWish) throws -> SwapProgress {
        let layer = StackLayer(stack.state)
        if wish.plugin == nil, try layer.plugin(of: instance) == nil {
            throw Failure("there is no swap to undo: '\(instance)' runs the configured plugin")
        }
        if try arguments().contains("--plugin") {
            throw Failure(
                "'\(instance)' runs the plugin that its container's command names",
                hint: "leave --plugin out there (with docker-compose.yml, the variable HEALTHBUS_<HANDLER>_PLUGIN)")
        }
        let wanted = try configuration(wish.plugin.map { .plugin($0) } ?? .configured)
        guard let new = wanted.instance(instance) else { throw Failure("this stack has no '\(instance)'") }
        var result = SwapProgress(id: wish.id, instance: instance, plugin: new.plugin, isTrial: wish.isTrial)
        // The plugin that is running may have become unusable, which is a reason to replace it.
        if let running = try? configuration(nil) {
            if let failure = SwapRule.refusal(instance, running: running, wanted: wanted) { throw failure }
            result.from = running.instance(instance)?.plugin ?? ""
        }
        let trial = try tryOut(new, wish)
        result.trial = trial
        result.step = .done
        if let refusal = trial.refusal(of: wish.plugin ?? instance), !wish.isForced {
            result.step = .refused
            (result.problem, result.hint) = (refusal.message, refusal.hint)
        } else if !wish.isTrial {
            let configured = try configuration(.configured).instance(instance)?.plugin
            try layer.set(new.plugin == configured ? nil : new.plugin, of: instance)
        }
        return result
    }

    /// Has the instance's process finish its turn and end, and with it the container.
    package func end() { kill(process, SIGTERM) }

    private func configuration(_ choice: StackConfiguration.Choice?) throws -> StackConfiguration {
        try StackConfiguration(
            path: stack.configurationFile, state: stack.state, choices: choice.map { [instance: $0] } ?? [:],
            catalog: stack.catalog)
    }

    private func arguments() throws -> [String] {
        let line = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(process)/cmdline"))
        return line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    private func tryOut(_ new: StackConfiguration.Instance, _ wish: SwapWish) throws -> TrialReport {
        func failure(_ why: String, _ hint: String) -> Failure {
            Failure("'\(instance)' wasn't swapped and runs as before: \(why)", hint: hint)
        }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw failure("no pipe can be made: \(String(cString: strerror(errno)))", "try again")
        }
        let output = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        var words = ["--state", stack.state.path, "--instance", instance, "--plugin", new.plugin, "--try", wish.id]
        if let file = stack.configurationFile { words += ["--config", file] }
        let spec = ProcessSpec(
            name: instance, executable: stack.catalog.program(new.manifest), arguments: words,
            environment: ["HEALTHBUS_PLUGINS": stack.catalog.folder], streams: .init(output: ends[1]))
        // Once this end is closed, reading ends with the child.
        let child = try {
            defer { close(ends[1]) }
            return try ChildProcess(spec, trampoline: ChildProcess.trampolineBesideProgram())
        }()
        guard let exit = child.wait(for: .seconds(wish.within)) else {
            child.kill()
            _ = child.wait()
            throw failure("'\(new.plugin)' wasn't ready in time", "--within gives it more time")
        }
        guard exit.isSuccess else {
            throw failure("'\(new.plugin)' ended (\(exit.description))", "what it said is above")
        }
        // A report is far smaller than what a pipe holds, so the child never waited for this.
        let text = try output.readToEnd() ?? Data()
        guard let report = try Value(json: Array(text)).read(TrialReport.self) else {
            throw failure("its trial can't be read", "build all programs into one folder")
        }
        return report
    }
}
