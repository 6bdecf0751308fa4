import Foundation
import Glibc
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// Tests the help texts and the shell completions.
    @Suite struct HelpTests {
        private func said(_ stack: TestStack, _ words: String...) async throws -> String {
            let ended = try await stack.start(words).ended()
            #expect(ended.exit == .code(0) && ended.error.isEmpty, "\(words): \(ended.error)")
            return ended.output
        }

        private func commands(_ stack: TestStack) async throws -> [String] {
            try await said(stack, "help").split(separator: "\n")
                .compactMap { $0.wholeMatch(of: #/  ([a-z-]+)  +[A-Z].*/#).map { String($0.1) } }
        }

        @Test func everyCommandIsExplainedWithAnExample() async throws {
            try await withStack { stack in
                let commands = try await commands(stack)
                #expect(commands.count >= 20)
                for command in commands {
                    let help = try await said(stack, command, "--help")
                    #expect(try await said(stack, "help", command) == help)
                    #expect(help.contains("Usage:\n  healthbus \(command)"), "\(command)")
                    let examples = help.components(separatedBy: "\nExamples:\n").dropFirst().joined()
                    #expect(examples.contains("  healthbus \(command)"), "\(command) has no example")
                    // Each option is on a line with its description.
                    let options = help.components(separatedBy: "Options:\n").dropFirst().joined()
                        .components(separatedBy: "\n\n")[0].split(separator: "\n")
                    #expect(options.count >= 1)
                    for line in options {
                        #expect(
                            line.wholeMatch(of: #/  (-\w, |    )--[a-z-]+( <[^>]+>)?  +\S.+/#) != nil,
                            "\(command): \(line)")
                    }
                    // No escape codes are written to a pipe.
                    #expect(!help.contains("\u{1B}"))
                }
            }
        }

        /// The completions that bash offers for the last word of a command line.
        private func offers(_ stack: TestStack, _ script: String, _ line: String...) async throws -> Set<String> {
            try await offers(stack, script, line)
        }

        private func offers(_ stack: TestStack, _ script: String, _ line: [String]) async throws -> Set<String> {
            let words = line.map { "'\($0)'" }.joined(separator: " ")
            let program = """
                HOME="\(stack.path("home"))"; PATH="\(Programs.folder):$PATH"; source \(script)
                COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                _healthbus; printf '%s\\n' "${COMPREPLY[@]}"
                """
            let ended = try await stack.start(program: "/bin/bash", ["--norc", "-c", program]).ended()
            #expect(ended.error == "")
            return Set(ended.output.split(separator: "\n").map(String.init))
        }

        @Test(.enabled(if: access("/bin/bash", X_OK) == 0, "bash isn't installed"))
        func bashCompletes() async throws {
            try await withStack { stack in
                let script = try stack.write("completion", try await said(stack, "completions", "bash"))
                #expect(try await offers(stack, script, "healthbus", "") == Set(try await commands(stack) + ["help"]))
                #expect(try await offers(stack, script, "healthbus", "sta") == ["start", "status"])
                #expect(
                    try await offers(stack, script, "healthbus", "status", "--") == [
                        "--state", "--config", "--json", "--help",
                    ])
                #expect(try await offers(stack, script, "healthbus", "types", "o") == ["off", "on", "own"])
                #expect(try await offers(stack, script, "healthbus", "types", "off", "StepC") == ["StepCount"])
                #expect(
                    try await offers(stack, script, "healthbus", "types", "--json", "frequency", "StepCount", "ho") == [
                        "hourly"
                    ])
                #expect(try await offers(stack, script, "healthbus", "run", "heart") == ["heart-rate"])
                let folder = try await offers(stack, script, "healthbus", "status", "--state", "\(stack.folder)")
                #expect(folder == [stack.folder])
                _ = try stack.write("export.zip", "")
                #expect(
                    try await offers(stack, script, "healthbus", "import", stack.path("exp")) == [
                        stack.path("export.zip")
                    ])
                #expect(try await offers(stack, script, "healthbus", "help", "sta") == ["start", "status"])
                #expect(try await offers(stack, script, "healthbus", "tap", "daily") == ["daily.summary"])
                #expect(try await offers(stack, script, "healthbus", "tap", "--type", "StepC") == ["StepCount"])
                #expect(try await offers(stack, script, "healthbus", "zone", "set", "Europe/Berl") == ["Europe/Berlin"])
                #expect(
                    try await offers(stack, script, "healthbus", "up", "--zone", "Europe/Berl") == ["Europe/Berlin"])
                let figures = try await offers(stack, script, "healthbus", "explain", "st")
                #expect(figures.isSuperset(of: ["steps", "stand"]) && !figures.contains("sleep"), "\(figures)")
                #expect(try await offers(stack, script, "healthbus", "explain", "DistanceCyc") == ["DistanceCycling"])
                #expect(try await offers(stack, script, "healthbus", "sync", "hyd") == ["hydration"])
                // A list can be continued after its last comma.
                #expect(
                    try await offers(stack, script, "healthbus", "days", "--columns", "date,step").contains(
                        "date,steps"))
                #expect(try await offers(stack, script, "healthbus", "logs", "--level", "n") == ["notice"])
                #expect(try await offers(stack, script, "healthbus", "logs", "--category", "observ") == ["observer"])
                for (line, wanted) in [
                    (["sync", "--history"], ["all"]), (["replay", "steps", "--from"], []), (["types", "add"], []),
                    (["types", "own"], []), (["zone", "add"], []), (["zone", "remove"], []), (["config"], ["show"]),
                    (["backend"], ["test"]), (["generate", "--units"], ["metric", "imperial"]),
                    (["simulate", "--use"], ["never", "weekly", "daily", "often"]),
                ] { #expect(try await offers(stack, script, ["healthbus"] + line + [""]) == Set(wanted), "\(line)") }
                #expect(
                    try await offers(stack, script, "healthbus", "events", "add", "BodyMassI") == ["BodyMassIndex"])
                #expect(
                    try await offers(stack, script, "healthbus", "zone", "add", "2025-03-30", "Europe/Berl") == [
                        "Europe/Berlin"
                    ])
                #expect(
                    try await offers(stack, script, "healthbus", "generate", "--zone", "Europe/Berl") == [
                        "Europe/Berlin"
                    ])
                #expect(try await offers(stack, script, "healthbus", "days", "--last", "wee") == ["week"])
                // The names are those of the stack on the command line.
                let another = stack.path("home/another stack")
                let made = try await stack.run("token", "new", "--state", another)
                let id = try #require(made.error.firstMatch(of: #/([a-z0-9]+): made/#)).1
                for written in [another.replacing(" ", with: "\\ "), "~/another\\ stack"] {
                    let line = ["healthbus", "token", "revoke", "--state", written, ""]
                    #expect(try await offers(stack, script, line) == [String(id)], "\(written)")
                }
                // The value of an option doesn't count as a positional.
                #expect(try await offers(stack, script, "healthbus", "run", "--state", "/x", "slee") == ["sleep"])
            }
        }

        /// The script can be written even to a home folder that is still empty.
        @Test func theScriptIsWrittenWhereTheShellLooks() async throws {
            try await withStack { stack in
                let home = ["HOME": stack.path("home"), "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""]
                for (shell, path) in [
                    ("bash", ".local/share/bash-completion/completions/healthbus"),
                    ("zsh", ".local/share/zsh/site-functions/_healthbus"),
                    ("fish", ".config/fish/completions/healthbus.fish"),
                ] {
                    let ended = try await stack.run("completions", shell, "--install", environment: home)
                    #expect(ended.exit == .code(0) && ended.output.contains(stack.path("home/" + path)), "\(ended)")
                    let script = try String(contentsOfFile: stack.path("home/" + path), encoding: .utf8)
                    #expect(try await said(stack, "completions", shell) == script)
                }
            }
        }

        /// Completion works in a shell with that home folder once the command's instructions have been followed.
        @Test(.enabled(if: access("/bin/bash", X_OK) == 0, "bash isn't installed"))
        func bashCompletesInANewHome() async throws {
            try await withStack { stack in
                let home = ["HOME": stack.path("home"), "XDG_DATA_HOME": ""]
                let ended = try await stack.run("completions", "bash", "--install", environment: home)
                let advice = try #require(ended.output.firstMatch(of: #/\n  (source .*)\n/#)).1
                let script = try stack.write(
                    "session",
                    "\(advice)\nCOMP_WORDS=(healthbus stat)\nCOMP_CWORD=1\n_healthbus\necho ${COMPREPLY[@]}\n")
                let shell = try await stack.start(program: "/bin/bash", ["--norc", script], environment: home).ended()
                #expect(shell.output == "status\n" && shell.error.isEmpty, "\(shell)")
            }
        }

        static func shell(_ name: String) -> String? {
            ["/bin/", "/usr/bin/", "/usr/local/bin/"].map { $0 + name }.first { access($0, X_OK) == 0 }
        }

        @Test(.enabled(if: EndToEnd.HelpTests.shell("zsh") != nil, "zsh isn't installed")) func zshReadsItsScript()
            async throws
        {
            try await readsItsScript("zsh", "-n")
        }

        @Test(.enabled(if: EndToEnd.HelpTests.shell("fish") != nil, "fish isn't installed")) func fishReadsItsScript()
            async throws
        {
            try await readsItsScript("fish", "--no-execute")
        }

        private func readsItsScript(_ name: String, _ option: String) async throws {
            try await withStack { stack in
                let script = try stack.write("completion", try await said(stack, "completions", name))
                let ended = try await stack.start(program: Self.shell(name) ?? "", [option, script]).ended()
                #expect(ended.exit == .code(0) && ended.error == "")
            }
        }

        @Test func namesAreGivenALineEach() async throws {
            try await withStack { stack in
                #expect(try await said(stack, "completions", "instances").contains("heart-rate\n"))
                #expect(try await said(stack, "completions", "plugins").contains("steps-python\n"))
                #expect(try await said(stack, "completions", "types").contains("\nStepCount\n"))
                #expect(try await said(stack, "completions", "topics").contains("\nfigures.steps\n"))
                #expect(try await said(stack, "completions", "destinations") == "uploader\n")
                let wrong = try await stack.run("completions", "csh")
                #expect(wrong.exit == .code(2) && wrong.error.contains("bash"))
            }
        }
    }
}
