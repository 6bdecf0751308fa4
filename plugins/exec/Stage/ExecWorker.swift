import Configuration
import ExecDialogue
import Foundation
import HandlerKit
import HealthModel
import Processes
import StageKit

/// Keeps the program running across restarts, always on the thread that starts it.
final class ExecWorker {
    private let command: ExecCommand
    private let program: String
    private let instance: String
    private let plugin: String
    private let types: [String]
    private let configuration: Value
    private let log: StageLog
    private let wake: Wake
    private let restart = RestartPolicy(longest: .seconds(2))

    private var traits: ExecTraits?
    private var child: ExecChild?
    /// How often the program couldn't be started, or was dropped, since it last computed a day.
    private var failures = 0

    init(
        _ command: ExecCommand, program: String, instance: String, plugin: String, types: [String],
        configuration: Value, log: StageLog, wake: Wake
    ) {
        (self.command, self.program, self.instance, self.plugin) = (command, program, instance, plugin)
        (self.types, self.configuration, self.log, self.wake) = (types, configuration, log, wake)
    }

    /// Starts the program and greets it.
    func start() throws -> ExecTraits {
        let log = log
        let child = try ExecChild(command, program: program, name: instance, wake: wake.descriptor) {
            log(.execSaid, ["line": $0])
        }
        let hello = ExecLines.hello(plugin: plugin, instance: instance, types: types, configuration: configuration)
        var parts: [[UInt8]] = [hello]
        var answered: ExecTraits?
        do {
            try child.exchange({ parts.popLast() }, within: command.limits.start) { line throws(ExecFailure) in
                let answer = try ExecAnswer.read(line, number: 1)
                answered = try ExecTraits(answer: answer["hello"], plugin: plugin, types: types)
                return true
            }
        } catch {
            child.end(grace: 0)
            throw error
        }
        guard let answered else { throw ExecFailure.cantStart("the program didn't answer hello") }
        if let traits, traits != answered {
            child.end(grace: 0)
            throw ExecChanged(file: command.file)
        }
        log(.execStarted, ["pid": child.pid, "version": answered.version])
        self.child = child
        traits = answered
        return answered
    }

    /// nil when the host is stopping.
    func compute(_ input: DayInput) -> DayReply? {
        do {
            let child = try ready()
            do {
                return .computed(try compute(input, by: child))
            } catch {
                if error == .stopped { return nil }
                if !error.isOrderly || child.hasUnwritten { drop("\(error)") }
                return .failed("\(error)")
            }
        } catch ExecFailure.stopped {
            return nil
        } catch {
            return .unavailable(error)
        }
    }

    private func compute(_ input: DayInput, by child: ExecChild) throws(ExecFailure) -> DayOutput {
        var lines = ExecDayLines(input, ids: traits?.readsIDs ?? false)
        var answer = ExecAnswer(user: input.user, day: input.day)
        try child.exchange({ lines.next() }, within: command.limits.day) { line throws(ExecFailure) in
            try answer.take(line)
        }
        failures = 0
        return answer.output
    }

    /// A running program that is waiting for a day: the current one, or a new one.
    private func ready() throws -> ExecChild {
        reap()
        if let child {
            if !child.hasSpokenUnasked { return child }
            drop("it wrote figures for a day it wasn't asked for")
        }
        var tries = 0
        while true {
            if failures > 0 {
                var generator = SystemRandomNumberGenerator()
                let delay = restart.delay(failures: failures, using: &generator)
                if wake.isSignalled(within: delay) { throw ExecFailure.stopped }
            }
            do {
                _ = try start()
                if let child { return child }
            } catch let changed as ExecChanged {
                throw changed
            } catch {
                if error as? ExecFailure == .stopped { throw error }
                tries += 1
                failures += 1
                log(.execFailed, ["why": "\(error)", "attempt": tries])
                if tries >= command.limits.starts { throw error }
            }
        }
    }

    /// Releases a program that ended between two days; the next day gets a new one.
    func reap() {
        if let how = child?.ended { drop("it ended between two days (\(how))") }
    }

    private func drop(_ why: String) {
        log(.execDropped, ["why": why])
        child?.end(grace: 0)
        child = nil
        failures += 1
    }

    func end(grace: Double) {
        child?.end(grace: grace)
        child = nil
    }
}

/// The program's file was replaced while it was running, so figures from the old and the new program would be mixed.
struct ExecChanged: Error, CustomStringConvertible {
    let file: String
    var description: String {
        "the program of \(file) describes itself differently than at this process's start; this process restarts"
    }
}
