import Foundation

/// Where a shell looks for a user's own completion script, and what must be added to its settings.
package struct CompletionPlace: Sendable {
    package let path: String
    /// Human-readable; one line or more.
    package let whatElse: String

    package init(_ shell: ShellCompletion.Shell, environment: [String: String]) {
        func folder(_ variable: String, _ usual: String) -> String {
            environment[variable].flatMap { $0.isEmpty ? nil : $0 } ?? (environment["HOME"] ?? "~") + usual
        }
        switch shell {
        case .bash:
            path = folder("XDG_DATA_HOME", "/.local/share") + "/bash-completion/completions/healthbus"
            whatElse = """
                new shells have it if the package bash-completion is installed; otherwise, and in this one:
                  source \(Self.word(path))

                """
        case .zsh:
            path = folder("XDG_DATA_HOME", "/.local/share") + "/zsh/site-functions/_healthbus"
            whatElse = """
                add this to ~/.zshrc, after compinit if you already have that:
                  autoload -Uz compinit && compinit
                  source \(Self.word(path))

                """
        case .fish:
            path = folder("XDG_CONFIG_HOME", "/.config") + "/fish/completions/healthbus.fish"
            whatElse = "new shells have it\n"
        }
    }

    /// Quoted so that a shell treats it as one word.
    private static func word(_ path: String) -> String {
        path.contains { " '\"$`\\&;()<>|*?".contains($0) }
            ? "'" + path.replacing("'", with: "'\\''") + "'" : path
    }
}
