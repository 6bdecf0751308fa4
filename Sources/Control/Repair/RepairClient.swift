import Client
import Clocks
import Configuration
import Foundation
import Glibc
import HealthModel
import Inspection
import Logging
import Processes
import Protocol
import StageKit

/// Makes an instance carry out a person's request. A running instance is asked over the bus; for a stopped one, its own
/// program carries out the request under its lock.
package final class RepairClient {
    package enum Outcome: Sendable, Equatable {
        case done(Value)
        /// The request is stored. The rest needs other processes, and continues at the next start.
        case atNextStart
    }

    private let stack: Stack
    private var client: StackClient?
    /// If the process being waited for makes no progress for this long, it counts as stuck.
    private static let patience = Duration.seconds(60)

    package init(_ stack: Stack) { self.stack = stack }

    package func close() { client?.close() }

    /// A new request, to which the action's own members are added.
    package static func request(_ action: String) -> RepairRequest {
        RepairRequest(id: UUID().uuidString.lowercased(), action: action)
    }

    /// - Parameter progress: called with the amount that is left, in the action's own unit.
    /// - Throws: `Failure` with the reason when the instance refuses the request, doesn't answer, or makes no progress.
    package func repair(
        _ instance: StackConfiguration.Instance, _ request: RepairRequest, progress: (Int64) -> Void = { _ in }
    ) throws -> Outcome {
        let runs = try stack.reader().isRunning(instance.name)
        guard runs || FileManager.default.fileExists(atPath: stack.state.database(instance.name)) else {
            throw Failure(
                "'\(instance.name)' has never run in \(stack.place)", hint: "it has nothing to repair")
        }
        return runs ? try ask(instance.name, request, progress) : try runProgram(of: instance, request)
    }

    /// What to say of a request that was never made.
    package static func undone(_ action: String) -> String {
        switch action {
        case "backup": "no backup was made"
        case "cancel": "nothing was cancelled"
        case "drop": "nothing was dropped"
        case "replay": "nothing was replayed"
        case "reset": "nothing was reset"
        case "retry": "nothing was retried"
        case "settle": "nothing was resolved"
        case "undo": "nothing was taken back"
        default: "nothing was changed"
        }
    }

    // MARK: One that runs

    private func ask(_ name: String, _ request: RepairRequest, _ progress: (Int64) -> Void) throws -> Outcome {
        let client = try self.client ?? StackClient(address: stack.address)
        self.client = client
        let wait = AnswerWait(client, for: name, hub: stack.hub, undone: Self.undone(request.action))
        try wait.untilHeard()
        var watch = ProgressWatch()
        var saidAt = MonotonicTime.distantPast
        while true {
            let beats = client.heartbeats
            let beat = beats[name]?.beat
            let reported = beat?.stage.mending
            let isOurs = reported?.id == request.id
            if isOurs, let reported {
                switch RepairOutcome(reported) {
                case .done(let result): return .done(result)
                case .refused(let why): throw Failure(said: why)
                case .underWay(let left, _): progress(left)
                }
            }
            // Any other work that the instance does counts as progress too, since our request is waiting for it.
            let now = MonotonicClock.now
            if watch.look(beats.filter { $0.key == name }, at: now) { wait.heard() }
            guard watch.stillness(at: now) < Self.patience else {
                let why = beat?.stage.blocked.map { ": \($0)" } ?? ""
                throw wait.failure(
                    else: Failure(
                        isOurs
                            ? "'\(name)' began, but makes no progress\(why)" : "'\(name)' doesn't accept the request",
                        hint: isOurs
                            ? "it continues automatically; 'healthbus status' shows its state"
                            : "another request may be under way: 'healthbus status' shows what is pending"))
            }
            wait.look()
            if !isOurs, MonotonicClock.now - saidAt > .milliseconds(300) {
                client.command(name, request.body)
                saidAt = MonotonicClock.now
            }
            client.wait(until: Date(timeIntervalSinceNow: 0.05))
        }
    }

    // MARK: One that is stopped

    private func runProgram(of instance: StackConfiguration.Instance, _ request: RepairRequest) throws -> Outcome {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw Failure("can't make a pipe: \(String(cString: strerror(errno)))")
        }
        let output = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        var words = ["--state", stack.state.path, "--instance", instance.name, "--mend", request.json]
        if let file = stack.configurationFile { words += ["--config", file] }
        let level = ProcessInfo.processInfo.environment["HEALTHBUS_LOG_LEVEL"] ?? "error"
        let child: ChildProcess
        do {
            defer { Glibc.close(ends[1]) }
            child = try ChildProcess(
                ProcessSpec(
                    name: instance.name, executable: stack.catalog.program(instance.manifest), arguments: words,
                    environment: ["HEALTHBUS_LOG_LEVEL": level], streams: .init(output: ends[1])),
                trampoline: ChildProcess.trampolineBesideProgram())
        }
        let text = try output.readToEnd() ?? Data()
        let exit = child.wait()
        guard exit.isSuccess, let said = try? Value(json: Array(text)) else {
            throw Failure("the program of '\(instance.name)' ended with \(exit)", hint: "the reason is above")
        }
        switch said.read(Repair.self).map({ RepairOutcome($0) }) {
        case .done(let result)?: return .done(result)
        case .refused(let why)?: throw Failure(said: why)
        case .underWay?: return .atNextStart
        case nil:
            throw Failure(
                "'\(instance.name)' doesn't accept it: another request to it isn't done yet",
                hint: "start the stack, and wait until 'healthbus status' shows nothing pending")
        }
    }
}

extension Stack {
    /// Makes an instance carry out one request (`RepairClient.repair`).
    package func repair(
        _ instance: StackConfiguration.Instance, _ request: RepairRequest, progress: (Int64) -> Void = { _ in }
    ) throws -> RepairClient.Outcome {
        let client = RepairClient(self)
        defer { client.close() }
        return try client.repair(instance, request, progress: progress)
    }
}

/// What a reset would derive again. Changes nothing.
package struct ResetPlan {
    /// How many figures, events or summaries the instance has.
    package let rows: Int

    package init(_ stack: Stack, _ instance: StackConfiguration.Instance) throws {
        var count = 0
        try stack.reader().forEachRow(instance, topic: "") { if $0.body != nil { count += 1 } }
        rows = count
    }
}
