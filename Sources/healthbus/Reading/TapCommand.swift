import Client
import Clocks
import Configuration
import Figures
import Foundation
import Glibc
import HealthModel
import Inspection
import Logging
import Monitoring
import Protocol
import Terminal

enum TapCommand: Command {
    static let help = CommandHelp(
        name: "healthbus tap",
        summary: "Print the messages that pass over the bus, decoded, without health values. Changes nothing.",
        positionals: [.init("topic-prefix", isRequired: false, repeats: true)],
        options: CommandHelp.stackOptions + [
            .init("--type", value: "type", help: "only messages about this type: StepCount, HKQuantityTypeIdentifier…"),
            .user("only messages that name this user"),
            .init("--from", value: "instance", help: "only what this instance sends"),
            .init(
                "--since", value: "when",
                help: "changes from then on, read from the stores, before the live ones: since 10m or 2h ago, a date, "
                    + "or, with --from, that instance's sequence number"),
            .init(
                "--follow-sample", value: "id",
                help: "one sample's path through all stages, until it is delivered, "
                    + "and what holds it back; also of a HealthKit UUID that is still to come"),
            .init("--values", help: "show health values too"),
            .init("--heartbeats", help: "show heartbeats too; 'tap heartbeat.' shows nothing else"),
            .init("--count", value: "number", help: "end after this many"),
            .init(
                "--wait", help: "wait for a stack that isn't running yet, or a topic it doesn't have, instead of ending"
            ),
            .init("--json", help: "one JSON object per line on standard output, and nothing else"),
        ],
        examples: [
            "healthbus tap figures. daily.", "healthbus tap --json --count 10 heartbeat.",
            "healthbus tap --since 1h --type StepCount",
            "healthbus tap --follow-sample 0195f848-2a80-8abc-9def-0123456789ab",
        ])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(watching: arguments)
        // The program that reads from the pipe may close it before the tap ends.
        signal(SIGPIPE, SIG_IGN)
        let count = try arguments.integer("--count", in: 1 ... .max)
        let isJSON = arguments.flag("--json")
        let waits = arguments.flag("--wait")
        if waits, arguments.value("--since") != nil {
            throw Failure.usage(
                "--since reads what is already there, so there is nothing to wait for", hint: "leave out --wait")
        }
        if let id = arguments.value("--follow-sample") { return try follow(id, stack, isJSON: isJSON, waits: waits) }
        let from = arguments.value("--from")
        if let from, from != "supervisor" { try stack.named(from, listed: true) }
        var filter = stack.configuration.tapFilter(
            prefixes: arguments.positionals,
            type: try arguments.value("--type").map { text throws(Failure) in
                try TypeName.identifier(text) { known(stack, user: arguments.user) }
            },
            user: arguments.value("--user"), from: from)
        filter.hidesHeartbeats = !arguments.flag("--heartbeats")
        let isReplay = arguments.value("--since") != nil
        for failure in stack.configuration.unknown(prefixes: filter.prefixes, isReplay: isReplay) {
            guard waits else { throw failure }
            StandardStream.error.write(
                "healthbus: \(failure.message) yet; waiting for one" + (failure.hint.map { " (\($0))" } ?? "") + "\n")
        }
        let printer = Printer(isJSON: isJSON, showsValues: arguments.flag("--values"), count: count)
        if let since = arguments.value("--since") {
            let replay = TapReplay(stack, filter, showsValues: printer.showsValues) {
                StandardStream.error.write("healthbus: \($0)\n")
            }
            return try replay.run(from: try start(since, from: from)) { printer.print($0) }
        }
        try requireStack(stack, waits: waits)
        let rows =
            printer.showsValues ? TapRows(stack) { StandardStream.error.write("healthbus: \($0)\n") } : nil
        try Tap().run(
            address: try stack.address(as: KeyRole.tapName), filter: filter, rows: rows,
            notes: HeldBackNotes(
                type: filter.type, observer: try stack.instance(.observer).name,
                debouncer: stack.configuration.only(.debouncer)?.name),
            print: { printer.print(printer.showsValues ? $0 : Redaction.redact($0)) },
            malformed: { printer.print(unreadable: $0.description) },
            note: { [advice = stack.advice] news in
                let text =
                    switch news {
                    case .heldBack(let reason): "held back: " + advice.addressed(reason)
                    case .goesOn: "no longer held back"
                    }
                StandardStream.error.write("healthbus: \(text)\n")
            })
    }

    /// Ends the command if there is nothing to listen to and it wasn't asked to wait. Over TCP, there may be running
    /// processes that this one hasn't heard from yet.
    private static func requireStack(_ stack: Stack, waits: Bool) throws {
        let reader = stack.reader()
        guard !stack.isUp(), try !stack.names.contains(where: { try reader.isRunning($0) }) else { return }
        guard waits || stack.configuration.bus.isRemote else {
            throw Failure(
                "no stack is running in \(stack.place)",
                hint: "start it with \(stack.startCommand); with --wait, tap waits for it")
        }
        StandardStream.error.write(
            stack.advice.addressed(
                "healthbus: nothing is running in \(stack.place) yet; messages are shown once it does ('healthbus up' starts it)\n"
            ))
    }

    /// The types in the store, and a person's own ones that have no events yet; nil if the store can't be asked: those
    /// who may only tap aren't answered.
    private static func known(_ stack: Stack, user: String) -> [String]? {
        guard let held = (try? TypesReport(stack, now: Date()))?.types.map(\.type) else { return nil }
        return held + ((try? EntriesReport(stack, stack.reader(), user: user))?.types.map(\.name) ?? [])
    }

    private static func start(_ text: String, from: String?) throws -> TapReplay.Start {
        if let sequence = Int64(text).map(SequenceNumber.init) {
            guard from != nil else {
                throw Failure.usage(
                    "--since is a sequence, and each instance counts its own",
                    hint: "name one with --from, or give a time")
            }
            return .sequence(sequence)
        }
        return .time(try Since(text, option: "--since", now: WallClock.now).instant)
    }

    private static func follow(_ id: String, _ stack: Stack, isJSON: Bool, waits: Bool) throws {
        let terminal = Terminal(.output)
        let follower = try SampleFollower(stack, id: id)
        if waits { try requireStack(stack, waits: true) }
        try follower.run(
            waits: waits,
            waiting: { StandardStream.error.write("there is no such sample yet; waiting for it\n") },
            print: { step, seen in
                let line = isJSON ? step.value(seen: seen).json() : step.line(seen: seen, for: terminal)
                return StandardStream.output.write(line + "\n")
            })
    }

    /// Prints lines, and stops when enough have been printed.
    private struct Printer: Sendable {
        let isJSON: Bool
        let showsValues: Bool
        let left: Countdown?
        let width: Int

        init(isJSON: Bool, showsValues: Bool, count: Int?) {
            (self.isJSON, self.showsValues) = (isJSON, showsValues)
            left = count.map { Countdown($0) }
            let terminal = Terminal(.output)
            width = terminal.isTerminal ? terminal.width : .max
        }

        func print(_ message: Message) -> Bool {
            guard left?.take() ?? true else { return false }
            let isWritten = StandardStream.output.write((isJSON ? message.jsonLine : message.line(width: width)) + "\n")
            return isWritten && !(left?.isOver ?? false)
        }

        /// For a message that can't be read: prints the reason, but never its content.
        func print(unreadable why: String) {
            let line = isJSON ? Value.object(["unreadable": .string(why)]).json() : "unreadable: \(why)"
            StandardStream.output.write(line + "\n")
        }
    }
}
