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
                    CommandHelp(
                        name: "tool zone", summary: "Changes zones.",
                        positionals: [.init("set|add", isRequired: false), .init("zone", isRequired: false)],
                        following: ["add": [.free, .known(.zones)]],
                        options: [.init("--use", value: "kind", words: ["never", "often"], help: "how often")]),
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
            ("days|all", .choice(["all"])), ("date|sequence", .free), ("name", .free),
        ] { #expect(WordKind(name) == kind, "\(name)") }
    }

    @Test func bashAsksForWhatOnlyTheProgramKnows() {
        let script = Self.script(.bash)
        #expect(script.contains(#""tap "*) kind="known:topics""#))
        #expect(script.contains(#""tap --level") kind="choice:debug info notice warning error""#))
        #expect(script.contains(#""days --columns") kind="list:columns""#))
        #expect(script.contains(#""help 0") kind="choice:tap days zone""#))
        #expect(script.contains(#""zone --use") kind="choice:never often""#))
        #expect(script.contains(#"done < <(tool words "${kind#known:}" "${stack[@]}" 2>/dev/null)"#))
    }

    @Test func zshAsksForWhatOnlyTheProgramKnows() {
        let script = Self.script(.zsh)
        #expect(script.contains(#"'*:topic-prefix:{compadd -- ${(f)"$(_tool_ask topics)"}}'"#))
        #expect(script.contains("'--level[from it up]:level:(debug info notice warning error)'"))
        #expect(script.contains(#":columns:{_sequence compadd - ${(f)"$(_tool_ask columns)"}}'"#))
        #expect(script.contains("help) (( CURRENT == 2 )) && _describe command commands"))
    }

    @Test func fishAsksForWhatOnlyTheProgramKnows() {
        let script = Self.script(.fish)
        #expect(script.contains("'__fish_seen_subcommand_from tap' -a '(__tool_ask topics)'"))
        #expect(script.contains("-l level -d 'from it up' -r -a 'debug info notice warning error'"))
        #expect(script.contains("-r -a '(__fish_append , (__tool_ask columns))'"))
        #expect(script.contains("-n '__fish_seen_subcommand_from help' -a 'tap days zone'"))
        #expect(script.contains("-n __fish_use_subcommand -a help "))
    }

    /// What follows may depend on the first word: where a new name or a moment is wanted, nothing is offered.
    @Test func whatIsOfferedDependsOnTheFirstWord() {
        let bash = Self.script(.bash)
        #expect(bash.contains(#""zone add 1") kind="free""#) && bash.contains(#""zone add 2") kind="known:zones""#))
        #expect(bash.contains(#""zone add "*) kind="free""#) && bash.contains(#""zone 1") kind="known:zones""#))
        let offer = #"compadd -- ${(f)"$(_tool_ask zones)"}"#
        #expect(Self.script(.zsh).contains("'2:zone:{case $line[1] in add) true ;; *) \(offer) ;; esac}'"))
        #expect(
            Self.script(.fish).contains(
                "'__fish_seen_subcommand_from zone; and __fish_seen_subcommand_from add' -a '(__tool_ask zones)'"))
    }
}
