import Configuration
import ExecDialogue
import Foundation
import HandlerKit
import HealthModel
import JSON

/// The cases that test a handler in any language line by line, without a stack around it.
struct LineCases {
    private let manifest: Manifest
    private let command: ExecCommand
    private let configuration: Value
    private let rows: TestRows

    private static let spring = LocalDay(year: 2025, month: 3, day: 30)
    private static let autumn = LocalDay(year: 2025, month: 10, day: 26)
    private static let ordinary = LocalDay(year: 2025, month: 3, day: 26)
    /// Members that don't exist in any release.
    static let future: [String: Value] = ["someNewMember": ["a": [1, .null, "x"]]]
    static let manyRows = 100_000

    init(_ manifest: Manifest, _ command: ExecCommand) throws {
        (self.manifest, self.command) = (manifest, command)
        configuration = try SchemaCheck(file: manifest.file).resolve(.null, schema: manifest.configuration)
        rows = try TestRows(types: manifest.types + manifest.reads)
    }

    func run(_ name: ConformanceCase) throws {
        switch name {
        case .hello: try start().hello()
        case .protocolRange: try protocolRange()
        case .unknownMembers:
            try same("with unknown members") { dialogue, input in
                try dialogue.compute(input, adding: Self.future)
            } hint: {
                "read the members you know and ignore all others: some may be added"
            }
        case .pieces:
            try same("sent in pieces of 7 bytes") { dialogue, input in
                try dialogue.compute(input, piece: 7)
            } hint: {
                "read to the end of the line before you parse it"
            }
        case .sameDayTwice:
            try same("the second time") { dialogue, input in
                _ = try dialogue.compute(input)
                return try dialogue.compute(input)
            } hint: {
                "a day may come again: start from scratch at each line 'day', and keep nothing from the previous one"
            }
        case .otherOrder: try otherOrder()
        case .freshProgram: try freshProgram()
        case .emptyDay: try emptyDay()
        case .clockChanges: try clockChanges()
        case .oddValues: try oddValues()
        case .manyRows:
            let dialogue = try greeted()
            _ = try dialogue.compute(
                input(rows.many(Self.manyRows, on: Self.ordinary), Self.ordinary, dialogue.traits))
        case .endOfInput: try endOfInput()
        default: return
        }
    }

    private func start() throws -> LineDialogue {
        try LineDialogue(manifest, command, configuration: configuration)
    }

    private func greeted(adding more: [String: Value] = [:]) throws -> LineDialogue {
        let dialogue = try start()
        try dialogue.hello(adding: more)
        return dialogue
    }

    private func input(_ samples: [TestRow], _ day: LocalDay, user: String = "me", _ traits: ExecTraits?) throws
        -> DayInput
    {
        DayInput(
            user: user, day: day, window: traits?.window(configuration) ?? .localDay, zones: rows.zones,
            cutting: SamplePage(samples, detailed: traits?.detailedTypes ?? []), configuration: configuration)
    }

    /// Compares an ordinary day computed normally by one program with the same day computed by another program in the
    /// way that `ask` describes.
    private func same(
        _ how: String, _ ask: (LineDialogue, DayInput) throws -> DayOutput, hint: () -> String
    ) throws {
        let plain = try greeted()
        let day = try input(rows.ordinary(Self.ordinary, perHour: 3), Self.ordinary, plain.traits)
        let expected = try plain.compute(day)
        let dialogue = try greeted(adding: how.contains("members") ? Self.future : [:])
        let given: DayOutput
        do { given = try ask(dialogue, day) } catch var fault as ConformanceFault {
            fault.why = "\(how): \(fault.why)"
            fault.hint = hint()
            throw fault
        }
        if let difference = FiguresDifference.between(expected, given, now: how, before: "sent normally") {
            throw dialogue.fault(difference, hint())
        }
    }

    private func protocolRange() throws {
        let unknown = 99...99
        let dialogue = try start()
        guard let answer = try dialogue.greeting(versions: unknown), answer["error"].isNull else { return }
        if let claimed = answer["hello"]["protocol"].int, unknown.contains(Int(claimed)) {
            throw dialogue.fault(
                "it claims to speak protocol \(claimed), which doesn't exist",
                "name the version you wrote it for (1), or answer {\"error\": …}; don't repeat what you receive")
        }
    }

    private func otherOrder() throws {
        let days = (0..<4).map { Self.ordinary.adding(days: $0) }
        let inputs = { (traits: ExecTraits?) throws -> [DayInput] in
            try days.flatMap { day in
                [
                    try input(rows.ordinary(day, perHour: 1 + day.day % 3), day, traits),
                    try input(rows.ordinary(day, perHour: 2), day, user: "other", traits),
                ]
            }
        }
        let first = try greeted()
        let second = try greeted()
        let forward = try inputs(first.traits)
        let backward = try inputs(second.traits)
        let expected = try forward.map { try first.compute($0) }
        let given = try backward.reversed().map { try second.compute($0) }
        for (index, (a, b)) in zip(expected, given.reversed()).enumerated() {
            let place = "in reverse order (\(forward[index].user), \(forward[index].day))"
            if let difference = FiguresDifference.between(a, b, now: place, before: "in order") {
                throw second.fault(difference, "days and users come in any order: keep nothing from one to the next")
            }
        }
    }

    private func freshProgram() throws {
        var outputs: [DayOutput] = []
        for _ in 0..<2 {
            let dialogue = try greeted()
            outputs.append(
                try dialogue.compute(input(rows.ordinary(Self.ordinary, perHour: 3), Self.ordinary, dialogue.traits)))
            if outputs.count == 2,
                let found = FiguresDifference.between(
                    outputs[0], outputs[1], now: "now", before: "from the previous program")
            {
                throw dialogue.fault(
                    found, "read no clock and no file, and use no randomness: the same samples give the same figures")
            }
        }
    }

    private func emptyDay() throws {
        let dialogue = try greeted()
        let output = try dialogue.compute(input([], Self.ordinary, dialogue.traits))
        if let name = (Array(output.figures.keys) + Array(output.hourly.keys)).min() {
            throw dialogue.fault(
                "it gives '\(name)' for a day without samples",
                "without data leave the member out, never write 0: write no 'figures' line")
        }
        guard output.events.isEmpty else {
            throw dialogue.fault("it gives an event for a day without samples", "an event must come from a sample")
        }
    }

    private func clockChanges() throws {
        let dialogue = try greeted()
        for (day, hours) in [(Self.spring, 23), (Self.autumn, 25)] {
            let output = try dialogue.compute(input(rows.ordinary(day, perHour: 2), day, dialogue.traits))
            for (name, list) in output.hourly where list.array?.count != hours {
                throw dialogue.fault(
                    "'hourly.\(name)' of \(day) has \(list.array?.count ?? 0) entries; that day has \(hours) hours",
                    "make one entry for each range of 'hours', which \(day) has \(hours) of")
            }
        }
    }

    private func oddValues() throws {
        let dialogue = try greeted()
        let day = LocalDay(year: 2025, month: 4, day: 2)
        var samples = rows.odd(day)
        // A copy of the first sample, but without a number.
        if var first = samples.first {
            first.value = .nan
            samples.append(first)
        }
        _ = try dialogue.compute(input(samples, day, dialogue.traits))
        // Then each such sample alone.
        for sample in samples.prefix(4) { _ = try dialogue.compute(input([sample], day, dialogue.traits)) }
    }

    private func endOfInput() throws {
        let dialogue = try greeted()
        _ = try dialogue.compute(input(rows.ordinary(Self.ordinary), Self.ordinary, dialogue.traits))
        guard let ended = try dialogue.end() else {
            throw dialogue.fault(
                "it is still running \(JSONNumber.text(command.limits.grace)) s after its input ended",
                "exit when standard input ends; the host kills programs that don't")
        }
        guard ended.contains("exit code 0") else {
            throw dialogue.fault("it ended with \(ended)", "exit with code 0 when standard input ends")
        }
    }
}
