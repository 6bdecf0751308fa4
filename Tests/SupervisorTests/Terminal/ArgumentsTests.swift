import Logging
import Terminal
import Testing

@Suite struct ArgumentsTests {
    enum Mode: String, CaseIterable { case fast, careful }

    static let command = CommandHelp(
        name: "healthbus import", summary: "Hands a file over.",
        positionals: [.init("file"), .init("more", isRequired: false, repeats: true)],
        options: [
            .init("--user", short: "-u", value: "name", help: "whose data it is"),
            .init("--type", value: "type", repeats: true, help: "only this type"),
            .init("--offset", value: "hours", help: "shift"),
            .init("--complete", help: "what is absent was deleted"),
        ],
        examples: ["healthbus import export.zip"])

    static func parse(_ line: String) throws -> Arguments {
        try Arguments(line.split(separator: " ").map(String.init), for: command)
    }

    static func failure(_ line: String) -> Failure? {
        #expect(throws: Failure.self) { try parse(line) }
    }

    @Test(arguments: [
        "--user ann a.zip b.zip", "a.zip b.zip --user=ann", "a.zip -u ann b.zip", "-u=ann -- a.zip b.zip",
    ])
    func optionsAndPositionalsMixAnyWay(line: String) throws {
        let arguments = try Self.parse(line)
        #expect(arguments.value("--user") == "ann")
        #expect(arguments.positionals == ["a.zip", "b.zip"])
        #expect(!arguments.flag("--complete"))
        #expect(arguments.values("--type") == [])
        #expect(arguments.value("--offset") == nil)
    }

    /// As in `tail -n20`. Other letters may be a long option with a hyphen missing.
    @Test func aNumberMayFollowAShortOptionAtOnce() throws {
        let command = CommandHelp(
            name: "healthbus logs", summary: "Shows.", positionals: [.init("instance", isRequired: false)],
            options: [
                .init("--tail", short: "-n", value: "number", help: "how many"),
                .init("--follow", short: "-f", help: "on"),
            ])
        for line in ["-n20 x", "x -n 20", "-n=20 x", "--tail 20 x", "--tail=20 x"] {
            let arguments = try Arguments(line.split(separator: " ").map(String.init), for: command)
            #expect(try arguments.integer("--tail") == 20 && arguments.positionals == ["x"], "\(line)")
        }
        for (line, message) in [("-nx", "unknown option -nx"), ("-f7", "--follow takes no value"), ("-q7", "unknown")] {
            let error = #expect(throws: Failure.self) { try Arguments([line], for: command) }
            #expect(error?.message.contains(message) == true, "\(line): \(error?.message ?? "")")
        }
    }

    @Test func repeatsFlagsAndValuesThatLookLikeOptions() throws {
        let arguments = try Self.parse("--type a --complete --type=b=c --offset -5 - -- --user")
        #expect(arguments.values("--type") == ["a", "b=c"])
        #expect(arguments.flag("--complete"))
        #expect(try arguments.integer("--offset") == -5)
        #expect(arguments.positionals == ["-", "--user"])
    }

    @Test func aNegativeNumberIsAWord() throws {
        #expect(try Self.parse("Rio -22.9 -43 --user ann").positionals == ["Rio", "-22.9", "-43"])
    }

    @Test(arguments: [
        ("--usr ann f", "--usr", "did you mean --user?"),
        ("--whatever f", "--whatever", "see healthbus import --help"),
        ("f --user", "--user needs a value", "--user <name>"),
        ("f --user --complete", "--user needs a value", "--user <name>"),
        ("f --user -- x", "--user needs a value", "--user <name>"),
        ("f --complete=yes", "takes no value", "=yes"),
        ("f --user a --user b", "given twice", "once"),
        ("--complete", "<file> is missing", "usage: healthbus import [options] <file> [<more>...]"),
    ])
    func saysWhatIsWrongAndWhatToDo(line: String, message: String, hint: String) throws {
        let failure = try #require(Self.failure(line))
        #expect(failure.code == .usage)
        #expect(failure.message.contains(message))
        #expect(failure.hint?.contains(hint) == true)
    }

    @Test func anOptionOfAnotherCommandIsNamed() {
        let up = CommandHelp(
            name: "healthbus up", summary: "Starts.", options: [.init("--metrics", value: "port", help: "answer there")]
        )
        let start = CommandHelp(
            name: "healthbus start", summary: "Starts again.",
            options: [.init("--state", value: "folder", help: "its")],
            kin: .init(up))
        for (word, hint) in [
            ("--metrics", "'healthbus up' takes it"), ("--metrics=9464", "'healthbus up' takes it"),
            ("--stat", "did you mean --state?"), ("--other", "see healthbus start --help"),
        ] {
            let error = #expect(throws: Failure.self) { try Arguments([word], for: start) }
            #expect(error?.hint == hint, "\(word)")
        }
    }

    @Test func refusesMorePositionalsThanDeclared() {
        let error = #expect(throws: Failure.self) {
            try Arguments(["x"], for: CommandHelp(name: "healthbus status", summary: "Says how it is."))
        }
        #expect(error?.message == "unexpected \"x\"")
    }

    @Test func daysAreNamedByAnOption() {
        let days = CommandHelp(
            name: "healthbus days", summary: "Shows.", options: [.init("--last", value: "span", help: "which")])
        for (word, hint) in [("2025-03", "did you mean --last 2025-03?"), ("week", "usage: \(days.usage)")] {
            let error = #expect(throws: Failure.self) { try Arguments([word], for: days) }
            #expect(error?.message == "unexpected \"\(word)\"" && error?.hint == hint)
        }
    }

    @Test func whatACommandWritesIsNamedByAnOption() {
        let command = CommandHelp(
            name: "healthbus generate", summary: "Writes.",
            options: [.init("--output", short: "-o", value: "file", help: "where")])
        let error = #expect(throws: Failure.self) { try Arguments(["export.zip"], for: command) }
        #expect(error?.message == "unexpected \"export.zip\"" && error?.hint == "-o export.zip names the file")
    }

    @Test func numbersAndChoicesAreChecked() throws {
        let arguments = try Self.parse("f --offset 30 --user fast")
        #expect(try arguments.choice("--user", as: Mode.self) == .fast)
        #expect(throws: Failure.self) { try arguments.integer("--offset", in: -12...14) }
        #expect(throws: Failure.self) { try arguments.integer("--user") }
        let other = try Self.parse("f --user slow")
        let error = #expect(throws: Failure.self) { try other.choice("--user", as: Mode.self) }
        #expect(error?.hint?.contains("fast, careful") == true)
    }

    @Test(arguments: ["--help", "-h", "--unknown --help", "f g --user -h"])
    func helpWinsOverErrors(line: String) throws {
        #expect(try Self.parse(line).wantsHelp)
    }

    @Test func helpAfterTheSeparatorIsAnArgument() throws {
        let arguments = try Self.parse("-- --help")
        #expect(!arguments.wantsHelp)
        #expect(arguments.positionals == ["--help"])
    }

    @Test func rendersHelp() {
        #expect(
            Self.command.render() == """
                Hands a file over.

                Usage:
                  healthbus import [options] <file> [<more>...]

                Options:
                  -u, --user <name>     whose data it is
                      --type <type>     only this type (may be repeated)
                      --offset <hours>  shift
                      --complete        what is absent was deleted
                  -h, --help            show this help

                Examples:
                  healthbus import export.zip

                """)
    }

    @Test func helpListsExitCodes() {
        let help = CommandHelp(
            name: "healthbus validate", summary: "Looks.",
            exitCodes: [(.done, "well"), (.usage, "would be refused, for some reason or other")])
        #expect(help.render().contains("\n\nExit codes:\n  0  well\n  2  would be refused, for some reason or other\n"))
        #expect(help.render(width: 40).contains("  2  would be refused, for some reason\n     or other\n"))
    }

    @Test func helpFitsTheTerminal() {
        let help = CommandHelp(
            name: "healthbus import", summary: "Hands one file or more over to the stack that runs.",
            options: [.init("--offset", value: "hours", help: "shift all that is in the file by so many of them")])
        #expect(
            help.render(width: 48) == """
                Hands one file or more over to the stack that
                runs.

                Usage:
                  healthbus import [options]

                Options:
                      --offset <hours>  shift all that is in the
                                        file by so many of them
                  -h, --help            show this help

                """)
        // This is too narrow for a second column, so breaking the lines is left to the terminal.
        #expect(help.render(width: 40).contains("  shift all that is in the file by so many of them\n"))
    }

    @Test func findsCommandsAndTheNearestOnes() throws {
        let set = CommandSet(
            program: "healthbus", version: "2.1", summary: "Health data on a bus.",
            groups: [.init("Bring data in", [Self.command])])
        guard case .command("import", let arguments) = try set.select(["import", "f"]) else {
            Issue.record("no command")
            return
        }
        #expect(arguments.positionals == ["f"])
        for words in [[], ["help"], ["--help"], ["-h"]] {
            guard case .text(let text) = try set.select(words) else {
                Issue.record("no help for \(words)")
                continue
            }
            #expect(text.contains("import  Hands a file over."))
        }
        guard case .text("healthbus 2.1\n") = try set.select(["--version"]) else {
            Issue.record("no version")
            return
        }
        for words in [["help", "import"], ["import", "--help"]] {
            guard case .text(let text) = try set.select(words) else {
                Issue.record("no help for \(words)")
                continue
            }
            #expect(text == Self.command.render())
        }
        let error = #expect(throws: Failure.self) { try set.select(["imprt"]) }
        #expect(error?.hint == "did you mean import?")
        #expect(error?.code == .usage)
    }
}
