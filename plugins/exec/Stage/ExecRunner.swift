import CPosix
import Configuration
import Dispatch
import ExecDialogue
import Foundation
import Glibc
import HandlerKit
import HealthModel
import Logging
import MessageBus
import Processes
import StageKit
import Synchronization

/// Computes days with a program in any language: starts it, sends it one day at a time, reads its figures, and restarts
/// it when it fails.
package final class ExecRunner: EffectRunner {
    struct Job: Sendable {
        var effect: Effect
        var input: DayInput
        var reply: @Sendable (EffectResult) -> Bool
    }

    /// What the program declared about itself.
    package let traits: ExecTraits
    private let jobs = Mailbox<Job>(capacity: 8)
    private let wake: Wake
    private let ended = DispatchSemaphore(value: 0)

    /// Starts the program; returns once it has answered `hello`.
    /// - Throws: `ConfigurationError` when there is no such program; `Failure` when it can't be started or doesn't
    ///   answer as it should.
    package convenience init(_ context: PluginContext) throws {
        let manifest = context.instance.manifest
        guard let command = manifest.exec else {
            throw ConfigurationError(file: manifest.file, key: "exec", reason: "must be a list of texts")
        }
        try self.init(
            command, instance: context.name, plugin: manifest.name, types: manifest.types + manifest.reads,
            configuration: context.configuration, log: context.log)
    }

    package init(
        _ command: ExecCommand, instance: String, plugin: String, types: [String], configuration: Value, log: StageLog
    ) throws {
        let program = try command.program()
        wake = try Wake()
        let (jobs, wake, ended) = (jobs, wake, ended)
        let started = Mailbox<Result<ExecTraits, any Error>>(capacity: 1)
        let thread = Thread {
            defer { ended.signal() }
            // A program that stops reading should make `write` fail, not end this process.
            var pipe = sigset_t()
            sigemptyset(&pipe)
            sigaddset(&pipe, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &pipe, nil)
            let worker = ExecWorker(
                command, program: program, instance: instance, plugin: plugin, types: types,
                configuration: configuration, log: log, wake: wake)
            do { started.insist(.success(try worker.start())) } catch {
                started.insist(.failure(error))
                return
            }
            while !jobs.isClosed {
                let next = jobs.take(limit: 1, timeout: 60)
                if next.isEmpty { worker.reap() }
                for job in next {
                    guard let reply = worker.compute(job.input) else { continue }
                    _ = job.reply(EffectResult(id: job.effect.id, value: reply))
                }
            }
            worker.end(grace: command.limits.grace)
        }
        thread.name = "exec"
        // The JSON of an answer is read recursively, which needs a larger stack.
        thread.stackSize = 4 << 20
        thread.start()
        // The start has a separate deadline, which is extended on a busy machine.
        guard let result = started.take(limit: 1, timeout: command.limits.start * 10 + 60).first else {
            throw ExecFailure.cantStart("the program's thread ended before it was started")
        }
        switch result {
        case .success(let traits): self.traits = traits
        case .failure(ExecFailure.declined(let why)):
            throw Failure(
                "\(plugin) refuses its configuration: \(why)", hint: "see the options in \(command.file)", code: .usage)
        case .failure(let error):
            var why = "\(error)"
            if why.hasPrefix("the program ended") { why = "it" + why.dropFirst("the program".count) }
            throw Failure(
                "the program of \(command.file) (\(command.words.joined(separator: " "))) doesn't work: \(why)",
                hint: "run it by hand in \(command.folder) to see all that it says, or look at "
                    + "'healthbus logs \(instance)'")
        }
    }

    package func perform(_ effect: Effect, reply: @escaping @Sendable (EffectResult) -> Bool) {
        guard let request = effect.request as? DayRequest else { return }
        jobs.insist(Job(effect: effect, input: request.input, reply: reply))
    }

    /// Ends the program: its input is closed, and it is killed after the grace period in its limits. The day it was
    /// computing is computed again.
    package func stop() {
        jobs.close()
        wake.signal()
        ended.wait()
        // A second call returns at once.
        ended.signal()
    }
}
