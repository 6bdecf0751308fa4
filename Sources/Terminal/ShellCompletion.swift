/// Scripts that let a shell complete a program's commands, options and values, generated from the commands'
/// declarations.
package struct ShellCompletion: Sendable {
    package enum Shell: String, Sendable, CaseIterable { case bash, zsh, fish }

    private let commandSet: CommandSet
    /// The command that prints all words of a kind when given the kind's name: "healthbus completions".
    private let ask: String

    package init(_ commandSet: CommandSet, ask: String) {
        self.commandSet = commandSet
        self.ask = ask
    }

    package func script(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    // MARK: bash

    /// For bash 4 and later; doesn't need the bash-completion package.
    private var bash: String {
        let name = commandSet.program
        return """
            # Completion of \(name) for bash: source it, or put it where bash-completion looks.
            _\(name)() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
                local i place=0 words="" skip="" line="" kind="" head=""
                COMPREPLY=()
                if [ "$COMP_CWORD" -eq 1 ]; then
                    COMPREPLY=($(compgen -W "\(commandWords.joined(separator: " "))" -- "$word"))
                    return
                fi
                case "$command" in
            \(commandSet.commands.map(bashOptions).joined())        esac
                # The value of an option?
                case "$command $before" in
            \(commandSet.commands.map(bashValues).joined())        esac
                if [ -z "$kind" ]; then
                    case "$word" in -*) COMPREPLY=($(compgen -W "$words" -- "$word")); return ;; esac
                    # Which positional is it? Options and their values don't count.
                    for ((i = 2; i < COMP_CWORD; i++)); do
                        case " $skip " in *" ${COMP_WORDS[i]} "*) i=$((i + 1)); continue ;; esac
                        case "${COMP_WORDS[i]}" in -*) ;; *) place=$((place + 1)) ;; esac
                    done
                    case "$command $place" in
            \(commandSet.commands.map(bashPositionals).joined())            "help 0") kind="choice:\(commandSet.commands.map(\.word).joined(separator: " "))" ;;
                    esac
                fi
                case "$kind" in
                    file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word")) ;;
                    folder) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$word")) ;;
                    known:*) COMPREPLY=($(compgen -W "$(\(ask) ${kind#known:} 2>/dev/null)" -- "$word")) ;;
                    list:*)
                        # What comes after the last comma; the rest stays.
                        case "$word" in *,*) head="${word%,*}," ;; esac
                        COMPREPLY=($(compgen -P "$head" -W "$(\(ask) ${kind#list:} 2>/dev/null)" -- "${word##*,}")) ;;
                    choice:*) COMPREPLY=($(compgen -W "${kind#choice:}" -- "$word")) ;;
                esac
            }
            complete -F _\(name) \(name)

            """
    }

    private func bashOptions(_ command: CommandHelp) -> String {
        let all = command.options.flatMap { [$0.name] + [$0.short].compactMap(\.self) }.joined(separator: " ")
        let valued = command.options.filter { $0.value != nil }
            .flatMap { [$0.name] + [$0.short].compactMap(\.self) }.joined(separator: " ")
        return "        \(command.word)) words=\"\(all)\"; skip=\"\(valued)\" ;;\n"
    }

    private func bashValues(_ command: CommandHelp) -> String {
        command.options.map { option in
            guard let value = option.value else { return "" }
            let patterns = ([option.name] + [option.short].compactMap(\.self)).map { "\"\(command.word) \($0)\"" }
            return "        \(patterns.joined(separator: " | "))) kind=\"\(Self.bash(WordKind(value)))\" ;;\n"
        }.joined()
    }

    private func bashPositionals(_ command: CommandHelp) -> String {
        command.positionals.enumerated().map { index, positional in
            let pattern = positional.repeats ? "\"\(command.word) \"*" : "\"\(command.word) \(index)\""
            return "            \(pattern)) kind=\"\(Self.bash(WordKind(positional.name)))\" ;;\n"
        }.joined()
    }

    private static func bash(_ kind: WordKind) -> String {
        switch kind {
        case .file: "file"
        case .folder: "folder"
        case .choice(let words): "choice:\(words.joined(separator: " "))"
        case .known(let known): "known:\(known.rawValue)"
        case .list(let known): "list:\(known.rawValue)"
        case .free: "free"
        }
    }

    private var commandWords: [String] { commandSet.commands.map(\.word) + ["help"] }

    // MARK: zsh

    private var zsh: String {
        let name = commandSet.program
        let commands = commandSet.commands.map { "'\($0.word):\(Self.quoted($0.summary, "'\\''", besides: ":"))'" }
        return """
            #compdef \(name)
            # Completion of \(name) for zsh: save it as _\(name) in a folder of $fpath.
            _\(name)() {
                local -a commands
                commands=(\(commands.joined(separator: " ")) 'help:explain a command')
                if (( CURRENT == 2 )); then
                    _describe command commands
                    return
                fi
                local command=$words[2]
                words=("${(@)words[2,-1]}")
                (( CURRENT-- ))
                case $command in
            \(commandSet.commands.map(zshCommand).joined())        help) (( CURRENT == 2 )) && _describe command commands ;;
                esac
            }
            if [ "$funcstack[1]" = "_\(name)" ]; then _\(name) "$@"; else compdef _\(name) \(name); fi

            """
    }

    private func zshCommand(_ command: CommandHelp) -> String {
        var parts: [String] = []
        for option in command.options {
            let help = Self.quoted(option.help, "'\\''", besides: "[]:")
            let value = option.value.map { ":\(Self.quoted($0, "'\\''", besides: "[]:")):\(zsh(WordKind($0)))" } ?? ""
            let again = option.repeats ? "*" : ""
            parts.append("'\(again)\(option.name)[\(help)]\(value)'")
            if let short = option.short { parts.append("'\(again)\(short)[\(help)]\(value)'") }
        }
        for (index, positional) in command.positionals.enumerated() {
            let place = positional.repeats ? "*" : "\(index + 1)"
            let label = Self.quoted(positional.name, "'\\''", besides: "[]:|")
            parts.append("'\(place):\(label):\(zsh(WordKind(positional.name)))'")
        }
        return "        \(command.word)) _arguments -s \(parts.joined(separator: " ")) ;;\n"
    }

    private func zsh(_ kind: WordKind) -> String {
        switch kind {
        case .file: "_files"
        case .folder: "_files -/"
        case .choice(let words): "(\(words.joined(separator: " ")))"
        case .known(let known): "{compadd -- ${(f)\"$(\(ask) \(known.rawValue) 2>/dev/null)\"}}"
        case .list(let known): "{_sequence compadd - ${(f)\"$(\(ask) \(known.rawValue) 2>/dev/null)\"}}"
        case .free: " "
        }
    }

    // MARK: fish

    private var fish: String {
        let name = commandSet.program
        var lines = [
            "# Completion of \(name) for fish: save it as ~/.config/fish/completions/\(name).fish.",
            "complete -c \(name) -f",
        ]
        for command in commandSet.commands {
            lines.append(
                "complete -c \(name) -n __fish_use_subcommand -a \(command.word) -d '\(Self.quoted(command.summary, "\\'"))'"
            )
        }
        lines.append("complete -c \(name) -n __fish_use_subcommand -a help -d 'explain a command'")
        lines.append(
            "complete -c \(name) -n '__fish_seen_subcommand_from help' -a '\(commandSet.commands.map(\.word).joined(separator: " "))'"
        )
        for command in commandSet.commands {
            let when = "complete -c \(name) -n '__fish_seen_subcommand_from \(command.word)'"
            for option in command.options {
                var line = "\(when) -l \(option.name.dropFirst(2)) -d '\(Self.quoted(option.help, "\\'"))'"
                if let short = option.short { line += " -s \(short.dropFirst())" }
                if let value = option.value { line += " -r" + fish(WordKind(value)) }
                lines.append(line)
            }
            for positional in command.positionals {
                let words = fish(WordKind(positional.name))
                if !words.isEmpty { lines.append(when + words) }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func fish(_ kind: WordKind) -> String {
        switch kind {
        case .file: " -F"
        case .folder: " -a '(__fish_complete_directories)'"
        case .choice(let words): " -a '\(words.joined(separator: " "))'"
        case .known(let known): " -a '(\(ask) \(known.rawValue) 2>/dev/null)'"
        case .list(let known): " -a '(__fish_append , (\(ask) \(known.rawValue) 2>/dev/null))'"
        case .free: ""
        }
    }

    /// For use in single quotes, with a backslash before anything that the shell would interpret.
    private static func quoted(_ text: String, _ quote: String, besides special: String = "") -> String {
        text.map { character in
            character == "'" ? quote : special.contains(character) ? "\\\(character)" : String(character)
        }.joined()
    }
}
