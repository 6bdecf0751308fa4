/// Scripts that let a shell complete a program's commands, options and values, generated from the commands'
/// declarations.
package struct ShellCompletion: Sendable {
    package enum Shell: String, Sendable, CaseIterable { case bash, zsh, fish }

    private let commandSet: CommandSet
    /// The command that prints all words of a kind when given the kind's name: "healthbus completions".
    private let ask: String
    /// Options on the command line that the program needs in order to know the words.
    private static let passedOn = ["--state", "--config", "--user"]

    package init(_ commandSet: CommandSet, ask: String) { (self.commandSet, self.ask) = (commandSet, ask) }

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
                local i at place=0 first="" words="" skip="" kind="" head="" name=""
                local -a stack=()
                COMPREPLY=()
                if [ "$COMP_CWORD" -eq 1 ]; then
                    COMPREPLY=($(compgen -W "\(commandWords.joined(separator: " "))" -- "$word"))
                    return
                fi
                # Bash makes three words of "--state=folder".
                if [ "$before" = "=" ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
                if [ "$word" = "=" ]; then word=""; fi
                case "$command" in
            \(commandSet.commands.map(bashOptions).joined())        esac
                # Which positional is it? Options and their values don't count, but some say which stack is meant.
                for ((i = 2; i < ${#COMP_WORDS[@]}; i++)); do
                    if [ "$i" -eq "$COMP_CWORD" ]; then continue; fi
                    case " $skip " in
                        *" ${COMP_WORDS[i]} "*)
                            at=$i
                            if [ "${COMP_WORDS[i+1]}" = "=" ]; then i=$((i + 1)); fi
                            i=$((i + 1))
                            if [ "$i" -eq "$COMP_CWORD" ] || [ -z "${COMP_WORDS[i]}" ]; then continue; fi
                            # The shell hasn't taken off quotes or put in the home folder yet.
                            name=${COMP_WORDS[i]//[\\"\\'\\\\]/}
                            case "$name" in "~/"*) name=$HOME${name:1} ;; esac
                            case "${COMP_WORDS[at]}" in \(Self.passedOn.joined(separator: "|"))) stack+=("${COMP_WORDS[at]}" "$name") ;; esac
                            continue ;;
                    esac
                    if [ "$i" -gt "$COMP_CWORD" ]; then continue; fi
                    case "${COMP_WORDS[i]}" in
                        -*) ;;
                        *)
                            if [ "$place" -eq 0 ]; then first=${COMP_WORDS[i]}; fi
                            place=$((place + 1)) ;;
                    esac
                done
                # The value of an option?
                case "$command $before" in
            \(commandSet.commands.map(bashValues).joined())        esac
                if [ -z "$kind" ]; then
                    case "$word" in -*) COMPREPLY=($(compgen -W "$words" -- "$word")); return ;; esac
                    case "$command $first $place" in
            \(commandSet.commands.map(bashFollowing).joined())        esac
                fi
                if [ -z "$kind" ]; then
                    case "$command $place" in
            \(commandSet.commands.map(bashPositionals).joined())            "help 0") kind="choice:\(commandSet.commands.map(\.word).joined(separator: " "))" ;;
                    esac
                fi
                case "$kind" in
                    file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word")) ;;
                    folder) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$word")) ;;
                    known:*)
                        # A name may contain anything, so it is compared as it is, and offered in quotes if it needs them.
                        head=${word//[\\"\\'\\\\]/}
                        while IFS= read -r name; do
                            case "$name" in "$head"*) printf -v name %q "$name"; COMPREPLY+=("$name") ;; esac
                        done < <(\(ask) "${kind#known:}" "${stack[@]}" 2>/dev/null) ;;
                    list:*)
                        # What comes after the last comma; the rest stays. Names come from plugins: others aren't offered.
                        case "$word" in *,*) head="${word%,*}," ;; esac
                        while IFS= read -r name; do
                            case "$name" in *[!A-Za-z0-9_.-]*) ;; "${word##*,}"*) COMPREPLY+=("$head$name") ;; esac
                        done < <(\(ask) "${kind#list:}" "${stack[@]}" 2>/dev/null) ;;
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
            guard option.value != nil else { return "" }
            let patterns = ([option.name] + [option.short].compactMap(\.self)).map { "\"\(command.word) \($0)\"" }
            return "        \(patterns.joined(separator: " | "))) kind=\"\(Self.bash(option.kind))\" ;;\n"
        }.joined()
    }

    private func bashFollowing(_ command: CommandHelp) -> String {
        command.following.sorted { $0.key < $1.key }.map { action, kinds in
            let each = kinds.enumerated().map { index, kind in
                "            \"\(command.word) \(action) \(index + 1)\") kind=\"\(Self.bash(kind))\" ;;\n"
            }
            return each.joined() + "            \"\(command.word) \(action) \"*) kind=\"free\" ;;\n"
        }.joined()
    }

    private func bashPositionals(_ command: CommandHelp) -> String {
        command.positionals.enumerated().map { index, positional in
            let pattern = positional.repeats ? "\"\(command.word) \"*" : "\"\(command.word) \(index)\""
            return "            \(pattern)) kind=\"\(Self.bash(positional.kind))\" ;;\n"
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
            _\(name)_ask() {
                local option
                local -a stack
                for option in \(Self.passedOn.joined(separator: " ")); do
                    if (( ${+opt_args[$option]} )); then stack+=($option ${~${(Q)opt_args[$option]}}); fi
                done
                \(ask) $1 $stack 2>/dev/null
            }
            _\(name)() {
                local line
                local -A opt_args
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
            let value = option.value.map { ":\(Self.quoted($0, "'\\''", besides: "[]:")):\(zsh(option.kind))" } ?? ""
            let again = option.repeats ? "*" : ""
            parts.append("'\(again)\(option.name)[\(help)]\(value)'")
            if let short = option.short { parts.append("'\(again)\(short)[\(help)]\(value)'") }
        }
        for (index, positional) in command.positionals.enumerated() {
            let place = positional.repeats ? "*" : "\(index + 1)"
            let label = Self.quoted(positional.name, "'\\''", besides: "[]:|")
            parts.append("'\(place):\(label):\(zshAction(command, positional, at: index))'")
        }
        return "        \(command.word)) _arguments -s \(parts.joined(separator: " ")) ;;\n"
    }

    /// What a positional offers may depend on the first one.
    private func zshAction(_ command: CommandHelp, _ positional: CommandHelp.Positional, at index: Int) -> String {
        guard index > 0, !command.following.isEmpty else { return zsh(positional.kind) }
        let cases = command.following.sorted { $0.key < $1.key }.map { action, kinds in
            "\(action)) \(zshStatement(index <= kinds.count ? kinds[index - 1] : .free)) ;; "
        }
        return "{case $line[1] in \(cases.joined())*) \(zshStatement(positional.kind)) ;; esac}"
    }

    private func zshStatement(_ kind: WordKind) -> String {
        switch kind {
        case .choice(let words): "compadd -- \(words.joined(separator: " "))"
        case .known, .list: String(zsh(kind).dropFirst().dropLast())
        case .free: "true"
        case .file, .folder: zsh(kind)
        }
    }

    private func zsh(_ kind: WordKind) -> String {
        switch kind {
        case .file: "_files"
        case .folder: "_files -/"
        case .choice(let words): "(\(words.joined(separator: " ")))"
        case .known(let known): "{compadd -- ${(f)\"$(_\(commandSet.program)_ask \(known.rawValue))\"}}"
        case .list(let known): "{_sequence compadd - ${(f)\"$(_\(commandSet.program)_ask \(known.rawValue))\"}}"
        case .free: " "
        }
    }

    // MARK: fish

    private var fish: String {
        let name = commandSet.program
        var lines = [
            "# Completion of \(name) for fish: save it as ~/.config/fish/completions/\(name).fish.",
            "function __\(name)_ask",
            "    set -l words (commandline -opc)",
            "    set -l stack",
            "    for i in (seq (count $words))",
            "        if contains -- $words[$i] \(Self.passedOn.joined(separator: " ")); and test $i -lt (count $words)",
            "            set -a stack $words[$i] (string replace -r '^~/' \"$HOME/\" -- $words[(math $i + 1)])",
            "        end",
            "    end",
            "    \(ask) $argv $stack 2>/dev/null",
            "end",
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
                if option.value != nil { line += " -r" + fish(option.kind) }
                lines.append(line)
            }
            lines += fishPositionals(command)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Fish isn't asked which positional it is, so all that may come are offered.
    private func fishPositionals(_ command: CommandHelp) -> [String] {
        func line(_ kind: WordKind, _ condition: String = "") -> String? {
            let words = fish(kind)
            let when = "__fish_seen_subcommand_from \(command.word)\(condition)"
            return words.isEmpty ? nil : "complete -c \(commandSet.program) -n '\(when)'\(words)"
        }
        let following = command.following.sorted { $0.key < $1.key }
        let others =
            following.isEmpty
            ? "" : "; and not __fish_seen_subcommand_from \(following.map(\.key).joined(separator: " "))"
        return command.positionals.compactMap { line($0.kind, others) }
            + following.flatMap { action, kinds in
                kinds.compactMap { line($0, "; and __fish_seen_subcommand_from \(action)") }
            }
    }

    private func fish(_ kind: WordKind) -> String {
        switch kind {
        case .file: " -F"
        case .folder: " -a '(__fish_complete_directories)'"
        case .choice(let words): " -a '\(words.joined(separator: " "))'"
        case .known(let known): " -a '(__\(commandSet.program)_ask \(known.rawValue))'"
        case .list(let known): " -a '(__fish_append , (__\(commandSet.program)_ask \(known.rawValue)))'"
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
