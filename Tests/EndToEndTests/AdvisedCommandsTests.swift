import Foundation
import Glibc
import HealthModel
import Logging
import Processes
import Terminal
import Testing

extension EndToEnd {
    /// Every command that a program's message suggests can be run: nothing in it is mistyped, missing or unknown.
    @Suite struct AdvisedCommandsTests {
        private static let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()

        /// The placeholders for names in the sources' messages, each with an example. A placeholder that isn't listed
        /// here fails the test.
        private static let examples: [String: String] = [
            "name": "steps", "hub": "hub", "instance": "steps", "instance.name": "steps", "plan.instance": "steps",
            "scope.rawValue": "read",
            "wish.instance": "steps", "silence.instance": "steps", "instance.plugin": "steps", "plugin": "",
            "before.instance": "debouncer", "first.destination": "uploader",
            "type": "StepCount", "action": "off", "wanted == 3 ? \" hourly\" : \"\"": "",
            "newName(text, meaning)": "coffee",
            "text": "2025-03-30T14:00", "asked.name": "Europe/Berlin", "former": "Europe/Berlin",
            "now": "Europe/Berlin", "zone": "Europe/Berlin", "whose": "",
            "arguments.positionals[1]": "steps", "report.failed[0].name": "options", "whole[\"id\"].int ?? 0": "1",
            "dashboard.name": "dashboard", "Advice.quoted(manifest.folder)": "steps", "task.id": "remote-sync",
            "url": "", "row.name": "uploader", "report.failed[0].asked.rawValue": "sample",
            "destination": "uploader", "uploader": "uploader", "choice": "--destination uploader", "which": "1",
            "date": "2025-04-02", "Advice.quoted(entry.user)": "me", "Advice.quoted(key.user)": "me",
            "first.figure": "exerciseMinutes",
            "first.date": "2025-04-02", "id": "8c1f", "first": "1", "number": "1", "form": "BodyMass 71",
            "action.rawValue": "remove", "entry.id": "8c1f",
            "Advice.quoted(file)": checkout.path + "/configs/places.json",
            "Advice.quoted(state)": "/nowhere",
        ]

        /// Fills in the words that people replace themselves.
        private static func fill(_ word: String, _ stack: TestStack) -> String {
            switch word {
            case "FILE", "export.zip": stack.path("export.zip")
            case "BACKUP": stack.path("backup")
            case "FOLDER": stack.path("another-backup")
            case "ZONE": "Europe/Berlin"
            case "PLUGIN", "NAME": "steps"
            case "LAT": "52.5163"
            case "LON": "13.3777"
            case "TYPE": "BodyMass"
            case "VALUE": "71"
            case "DATE": "2025-04-02"
            default: word
            }
        }

        /// The commands in the sources' messages, with the examples filled in, each listed once.
        private static func commands() throws -> [String] {
            var found: Set<String> = []
            for folder in ["Sources", "plugins"] {
                let root = checkout.appending(path: folder)
                let files = FileManager.default.enumerator(atPath: root.path)
                while let file = files?.nextObject() as? String {
                    guard file.hasSuffix(".swift") else { continue }
                    let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
                    for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                        for command in Advice.commands(in: String(line)) { found.insert(try filled(command, in: file)) }
                    }
                }
            }
            // The command that stops the stack comes last, so that all others find a running stack.
            let stop = "healthbus stop"
            return found.subtracting([stop]).sorted() + found.intersection([stop])
        }

        private static func filled(_ command: String, in file: String) throws -> String {
            var text = command
            while let start = text.range(of: "\\(") {
                var depth = 1
                var end = start.upperBound
                while depth > 0, end < text.endIndex {
                    depth += text[end] == "(" ? 1 : text[end] == ")" ? -1 : 0
                    end = text.index(after: end)
                }
                let expression = String(text[start.upperBound..<text.index(before: end)])
                guard let example = examples[expression] else {
                    throw HarnessError("\(file) advises '\(command)': there is no example of \(expression)")
                }
                text.replaceSubrange(start.lowerBound..<end, with: example)
            }
            return text
        }

        @Test func eachRunsAsPrinted() async throws {
            let commands = try Self.commands()
            #expect(commands.count > 30, "\(commands)")
            try await withStack { stack in
                _ = try await stack.generate("export.zip", "--days", "3", "--seed", "2")
                let up = try await stack.upAndReady()
                #expect(try await stack.onState("import", stack.path("export.zip")).exit == .code(0))
                #expect(try await stack.onState("backup", stack.path("backup")).exit == .code(0))
                for command in commands {
                    let advised = Advice(state: stack.state, started: nil).addressed("'\(command)'").dropFirst()
                        .dropLast()
                    let words = advised.split(separator: " ").dropFirst().map { Self.fill(String($0), stack) }
                    let isRedirected = words.contains("<")
                    let run = try await stack.start(Array(words.prefix { $0 != "<" }))
                    // Some commands run until they are stopped: they count as understood as soon as they print
                    // anything.
                    try await until("'\(advised)' ends or says something", within: 120) {
                        !run.isRunning || (!isRedirected && !run.output.isEmpty)
                            || run.error.contains("instance.st") || run.error.contains("metrics")
                    }
                    if run.isRunning { run.child.signal(SIGTERM) }
                    let ended = try await run.ended()
                    // Commands that throw something away ask first when they are run as printed, in a terminal.
                    let isAsked = ended.error.contains("there is no terminal to ask on")
                    #expect(ended.exit != .code(2) || isAsked, "'\(advised)': \(ended.error)")
                    // The folder of the programs is named after the system: x86_64-unknown-linux-gnu.
                    let reported = ended.error.replacing("-unknown-", with: "-")
                    for word in ["unknown", "unexpected", "is missing", "needs a"] {
                        #expect(!reported.contains(word), "'\(advised)': \(ended.error)")
                    }
                }
                try await stack.interrupt(up)
            }
        }

        /// Messages add `--state` to exactly those commands whose help lists it.
        @Test func whatNamesTheStackIsWhatTakesIt() async throws {
            try await withStack { stack in
                let list = try await stack.run("help").output
                let names = list.split(separator: "\n").compactMap { $0.wholeMatch(of: #/  ([a-z-]+)  +[A-Z].*/#)?.1 }
                #expect(names.count >= 20)
                for name in names {
                    let help = try await stack.run(String(name), "--help").output
                    #expect(help.contains("--state <folder>") != Advice.withoutStack.contains(String(name)), "\(name)")
                }
            }
        }

        /// Suggested commands name the state folder and the configuration in use.
        @Test func adviceNamesTheStackThatWasMeant() async throws {
            try await withStack { stack in
                let config = try stack.write(
                    "config.json", #"{"instances": {"debouncer": {"configuration": {"windowSeconds": 0}}}}"#)
                let nobody = try await stack.onState("doctor", "--config", config)
                #expect(
                    nobody.output.contains("'healthbus up --state \(stack.state) --config \(config)'"),
                    "\(nobody.output)")
                let up = try await stack.upAndReady("--config", config)
                try await stack.interrupt(up)
                // The state folder remembers the configuration for all commands except those that start the stack.
                let days = try await stack.onState("sync")
                #expect(
                    days.error.contains("'healthbus start --state \(stack.state)'"), "\(days.error)")
            }
        }
    }
}
