import Configuration
import ExecDialogue
import Foundation
import HandlerKit
import HealthModel
import Processes
import Synchronization

/// A program that computes days, addressed as its host would address it: line by line, with every line at hand when it
/// fails.
final class LineDialogue {
    private let command: ExecCommand
    private let plugin: String
    private let types: [String]
    private let configuration: Value
    private let child: ExecChild
    private(set) var sent = ""
    private(set) var received = ""
    private(set) var traits: ExecTraits?

    /// Starts the program; the caller's thread must outlive it.
    init(_ manifest: Manifest, _ command: ExecCommand, configuration: Value) throws {
        self.command = command
        plugin = manifest.name
        types = manifest.types + manifest.reads
        self.configuration = configuration
        let wake = try Wake()
        let box = SaidLines()
        child = try ExecChild(
            command, program: command.program(), name: manifest.name, wake: wake.descriptor, said: { box.add($0) })
        (self.wake, self.box) = (wake, box)
    }

    private let wake: Wake
    private let box: SaidLines

    private final class SaidLines: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var last: String? { lines.withLock { $0.last } }
    }

    deinit { child.end(grace: 0) }

    /// Greets it.
    @discardableResult
    func hello(adding more: [String: Value] = [:], versions: ClosedRange<Int> = ExecLines.versions) throws
        -> ExecTraits
    {
        let line = try Self.adding(
            more,
            to: ExecLines.hello(
                plugin: plugin, instance: plugin, types: types, configuration: configuration, versions: versions))
        var answered: ExecTraits?
        let (plugin, types) = (plugin, types)
        try exchange([line], within: command.limits.start) { line throws(ExecFailure) in
            answered = try ExecTraits(
                answer: ExecAnswer.read(line, number: 1)["hello"], plugin: plugin, types: types)
            return true
        }
        guard let answered else {
            throw fault("it didn't answer hello", "answer the line 'hello' with one line 'hello'")
        }
        traits = answered
        return answered
    }

    /// The program's reply to a greeting, as JSON and otherwise unchecked; nil when the program ends without one, or it
    /// isn't JSON.
    func greeting(versions: ClosedRange<Int>) throws -> Value? {
        let line = ExecLines.hello(
            plugin: plugin, instance: plugin, types: types, configuration: configuration, versions: versions)
        var answer: Value?
        do {
            var parts = [line]
            note(sent: line)
            try child.exchange({ parts.popLast() }, within: command.limits.start) { line throws(ExecFailure) in
                answer = try? Value(json: line)
                return true
            }
        } catch {
            if case .ended = error { return nil }
            throw explained(error)
        }
        return answer
    }

    /// Makes the program compute a day.
    /// - Parameters:
    ///   - more: members added to each line's object, which a program must ignore.
    ///   - piece: how many bytes to write at once; 0 writes each line whole.
    func compute(_ input: DayInput, adding more: [String: Value] = [:], piece: Int = 0) throws -> DayOutput {
        var lines = ExecDayLines(input, ids: traits?.readsIDs ?? false)
        var parts: [[UInt8]] = []
        // The lines are generated while they are written, unless they must be changed first.
        if !more.isEmpty || piece > 0 {
            while let line = lines.next() {
                let line = try Self.adding(more, to: line)
                guard piece > 0 else {
                    parts.append(line)
                    continue
                }
                for start in stride(from: 0, to: line.count, by: piece) {
                    parts.append(Array(line[start..<min(start + piece, line.count)]))
                }
            }
            parts.reverse()
        }
        var answer = ExecAnswer(user: input.user, day: input.day)
        let isPrepared = !parts.isEmpty
        sent = "{\"compute\":\"\(input.day)\"}"
        received = ""
        try exchange({ isPrepared ? parts.popLast() : lines.next() }, within: command.limits.day) {
            line throws(ExecFailure) in
            try answer.take(line)
        }
        try requireSilence()
        return answer.output
    }

    private func requireSilence() throws {
        guard !child.hasSpokenUnasked else {
            throw fault(
                "it wrote more after 'done'",
                "write each day's lines between 'compute' and 'done'; logs go to standard error")
        }
    }

    /// Ends the program's input, and returns how the program ended; nil when it keeps running.
    func end() throws -> String? {
        child.closeInput()
        sent = "(end of its input)"
        received = ""
        var deadline = FairDeadline(.seconds(command.limits.grace), of: [child.pid])
        while true {
            let isLast = deadline.left() <= .zero
            if let ended = child.ended {
                // Only once the program has ended has all of its output arrived.
                try requireSilence()
                return ended
            }
            if isLast { return nil }
            Thread.sleep(forTimeInterval: 0.005)
        }
    }

    func fault(_ why: String, _ hint: String) -> ConformanceFault {
        ConformanceFault(why, sent: sent, received: received, said: box.last, hint: hint)
    }

    private func exchange(
        _ parts: [[UInt8]], within seconds: Double, take: (ArraySlice<UInt8>) throws(ExecFailure) -> Bool
    ) throws {
        var left = Array(parts.reversed())
        if let last = parts.last { note(sent: last) }
        try exchange({ left.popLast() }, within: seconds, take: take)
    }

    private func exchange(
        _ parts: () -> [UInt8]?, within seconds: Double, take: (ArraySlice<UInt8>) throws(ExecFailure) -> Bool
    ) throws {
        do {
            try child.exchange(parts, within: seconds) { line throws(ExecFailure) in
                received = Self.short(line)
                return try take(line)
            }
        } catch { throw explained(error) }
    }

    private func note(sent line: [UInt8]) {
        sent = Self.short(line[...])
        received = ""
    }

    private func explained(_ failure: ExecFailure) -> ConformanceFault {
        var fault = fault("\(failure)", Self.hint(failure))
        fault.cause = "\(failure)"
        return fault
    }

    private static func hint(_ failure: ExecFailure) -> String {
        switch failure {
        case .ended(_, _, let why):
            why == nil
                ? "run it by hand in its folder; it said nothing on standard error" : "correct that, and try again"
        case .late: "flush standard output after each line; 'limits' in plugin.json gives it more time"
        case .flood: "an answer has a few figures, not samples"
        case .badLine: "see 'What it answers' in docs/plugins.md"
        case .early: "answer at 'compute', not before"
        case .declined: "it refused of its own accord; the options are those in plugin.json with their defaults"
        case .cantStart, .stopped: "check 'exec' in plugin.json"
        }
    }

    /// Adds members to a line's own object, and to the object inside it.
    private static func adding(_ more: [String: Value], to line: [UInt8]) throws -> [UInt8] {
        guard !more.isEmpty, var members = try Value(json: line).object else { return line }
        for (name, value) in members {
            if let inner = value.object { members[name] = .object(inner.merging(more) { own, _ in own }) }
        }
        members.merge(more) { own, _ in own }
        return Array(Value.object(members).json().utf8) + [UInt8(ascii: "\n")]
    }

    static func short(_ line: ArraySlice<UInt8>) -> String {
        let text = String(decoding: line.prefix(240), as: UTF8.self).trimmingCharacters(in: .newlines)
        return line.count > 240 ? text + "…" : text
    }
}
