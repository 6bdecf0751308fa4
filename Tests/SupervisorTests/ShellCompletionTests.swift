import Terminal
import Testing

/// What the scripts of all three shells offer. `HelpTests` checks in bash itself whether bash offers the same.
@Suite struct ShellCompletionTests {
    private static let commands = CommandSet(
        program: "tool", version: "1", summary: "Tries it.",
        groups: [
            .init(
                "All",
                [
                    CommandHelp(
                        name: "tool tap", summary: "Listens.",
                        positionals: [.init("topic-prefix", isRequired: false, repeats: true)],
                        options: [.init("--level", value: "level", help: "from it up")]),
                    CommandHelp(
                        name: "tool days", summary: "Shows days.",
                        options: [.init("--columns", value: "columns", help: "only these")]),
                ])
        ])

    private static func script(_ shell: ShellCompletion.Shell) -> String {
        ShellCompletion(commands, ask: "tool words").script(for: shell)
    }

    @Test func wordsMeanWhatTheirNamesSay() {
        for (name, kind) in [
            ("zone", WordKind.known(.zones)), ("zone-or-moment", .known(.zones)), ("topic-prefix", .known(.topics)),
            ("figure", .known(.figures)), ("metric", .known(.metrics)), ("columns", .list(.columns)),
            ("category", .known(.categories)), ("destination", .known(.destinations)),
            ("level", .choice(["debug", "info", "notice", "warning", "error"])), ("a|b", .choice(["a", "b"])),
            ("name", .free),
        ] { #expect(WordKind(name) == kind, "\(name)") }
    }

    @Test func bashAsksForWhatOnlyTheProgramKnows() {
        let script = Self.script(.bash)
        #expect(script.contains(#""tap "*) kind="known:topics""#))
        #expect(script.contains(#""tap --level") kind="choice:debug info notice warning error""#))
        #expect(script.contains(#""days --columns") kind="list:columns""#))
        #expect(script.contains(#""help 0") kind="choice:tap days""#))
    }

    @Test func zshAsksForWhatOnlyTheProgramKnows() {
        let script = Self.script(.zsh)
        #expect(script.contains(#"'*:topic-prefix:{compadd -- ${(f)"$(tool words topics 2>/dev/null)"}}'"#))
        #expect(script.contains("'--level[from it up]:level:(debug info notice warning error)'"))
        #expect(script.contains(#":columns:{_sequence compadd - ${(f)"$(tool words columns 2>/dev/null)"}}'"#))
        #expect(script.contains("help) (( CURRENT == 2 )) && _describe command commands"))
    }

    @Test func fishAsksForWhatOnlyTheProgramKnows() {
        let script = Self.script(.fish)
        #expect(script.contains("'__fish_seen_subcommand_from tap' -a '(tool words topics 2>/dev/null)'"))
        #expect(script.contains("-l level -d 'from it up' -r -a 'debug info notice warning error'"))
        #expect(script.contains("-r -a '(__fish_append , (tool words columns 2>/dev/null))'"))
        #expect(script.contains("-n '__fish_seen_subcommand_from help' -a 'tap days'"))
        #expect(script.contains("-n __fish_use_subcommand -a help "))
    }
}
