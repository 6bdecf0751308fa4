import Foundation
import Glibc
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Commands that people type every day, on a running stack, on a stopped one, and without any stack.
    @Suite struct EverydayTests {
        @Test func whereThereIsNoStackTheCommandsSaySo() async throws {
            try await withStack { stack in
                for words in [
                    ["status"], ["status", "--json"], ["top"], ["top", "--once", "--json"], ["quarantine", "list"],
                    ["dead-letters", "list"], ["history"], ["alerts"], ["days"], ["logs"], ["conflicts"], ["imports"],
                    ["destinations"], ["doubles"],
                ] {
                    let ended = try await stack.start(words + ["--state", stack.path("none")]).ended()
                    #expect(ended.exit == .code(1) && ended.output.isEmpty, "\(words): \(ended)")
                    #expect(ended.error.contains("there is no state folder \(stack.path("none"))"), "\(ended.error)")
                    #expect(ended.error.contains("'healthbus up --state \(stack.path("none"))'"), "\(ended.error)")
                }
                let other = try await stack.run("status", "--state", stack.folder)
                #expect(other.exit == .code(1) && other.error.contains("\(stack.folder) holds no stack"), "\(other)")
            }
        }

        /// Made-up data is marked when it is generated; an import that would mix it with a person's own data is refused
        /// before any of it is stored.
        @Test func madeUpDataStaysApartFromAPersons() async throws {
            try await withStack { stack in
                let own = try await stack.generate("own.zip", "--days", "3", "--seed", "8")
                let made = stack.path("made.zip")
                #expect(try await stack.run("generate", "-o", made, "--days", "3").exit == .code(0))
                let up = try await stack.upAndReady()
                let first = try await stack.onState("import", made, "--json").json()
                #expect(first["files"].array?.first?["madeUp"] == true, "\(first)")
                let refused = try await stack.onState("import", own)
                #expect(refused.exit == .code(1), "\(refused)")
                #expect(
                    refused.error.contains("it is a real export, but 'me' has generated test data")
                        && refused.error.contains("--mix-made-up"))
                let invitations = [try await stack.onState("pair"), try await stack.onState("token", "new")]
                for asked in invitations {
                    #expect(asked.exit == .code(0) && asked.error.contains("a phone's would mix with it"), "\(asked)")
                }
                let reading = try await stack.onState("token", "new", "--scope", "read")
                #expect(reading.exit == .code(0) && !reading.error.contains("mix"), "\(reading)")
                #expect(try await stack.onState("import", "--user", "robin", own).exit == .code(0))
                let robins = try await stack.onState("token", "new", "--user", "robin")
                #expect(robins.exit == .code(0) && !robins.error.contains("mix"), "\(robins)")
                let mixed = try await stack.onState("import", "--mix-made-up", own)
                #expect(mixed.exit == .code(0), "\(mixed)")
                try await stack.interrupt(up)
                let start = try await stack.up("--import", made, "--user", "robin", "--until-idle").ended()
                #expect(start.exit == .code(1) && start.error.contains("--mix-made-up"), "\(start)")
                let reported = try await stack.up("--import", made, "--user", "robin", "--mix-made-up", "--until-idle")
                    .ended()
                #expect(reported.exit == .code(0), "\(reported)")
            }
        }

        /// Ctrl-C ends the command, not the import. The command that its message suggests cancels the import too.
        @Test func whoDoesntWaitForAnImportLearnsHowToEndIt() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "400", "--records", "600000")
                let up = try await stack.upAndReady()
                let command = try await stack.onlyStart("import", export)
                try await until("the first samples", every: 1) { stack.committed(by: "observer") > 0 }
                command.child.signal(SIGINT)
                let ended = try await command.ended()
                #expect(
                    ended.exit == .code(1) && ended.error.contains("the stack continues with export.zip"), "\(ended)")
                let advice = try #require(ended.error.firstMatch(of: #/'healthbus (imports cancel [^']*)'/#)).1
                let cancelled = try await stack.start(advice.split(separator: " ").map(String.init)).ended()
                #expect(cancelled.exit == .code(0) && cancelled.output.contains("Cancelled export.zip"), "\(cancelled)")
                let list = try await stack.onState("imports", "list")
                #expect(list.output.contains("cancelled"), "\(list.output)")
                // The file can be read again, this time to its end.
                let again = try await stack.onState("import", export, "--json", within: 240).json()
                #expect(again["files"].array?.first?["read"].int ?? 0 > 590_000, "\(again)")
                try await stack.interrupt(up)
            }
        }

        @Test func aStoppedStackSaysWhatItHoldsInPlainDigits() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "40")
                let up = try await stack.upAndReady()
                let imported = try await stack.onState("import", export)
                #expect(imported.exit == .code(0) && !imported.output.contains("\u{202F}"), "\(imported)")
                #expect(
                    imported.output.firstMatch(of: #/[0-9]{4,} read, [0-9]{4,} added/#) != nil, "\(imported.output)")
                try await until("the days") {
                    (try await stack.onState("days", "--json", "--last", "10000d").json().array ?? []).count >= 40
                }
                try await stack.interrupt(up)

                let status = try await stack.onState("status")
                #expect(status.exit == .code(0) && status.output.contains("Nothing runs there"), "\(status)")
                let top = try await stack.onState("top", "--once")
                #expect(top.exit == .code(1) && top.error.contains("no stack is running in \(stack.state)"), "\(top)")

                // Only the last 30 days with data are printed unless more are requested; this applies to every output
                // format.
                let days = try await stack.onState("days", "--json")
                #expect(try days.json().array?.count == 30)
                let advice = try #require(days.error.firstMatch(of: #/the last 30 of ([0-9]+) days; --all /#))
                let all = try await stack.onState("days", "--json", "--all")
                #expect(try all.json().array?.count == Int(advice.1) && all.error.isEmpty, "\(all.error)")
                for (form, header) in [("--csv", 1), ("--ndjson", 0)] {
                    let few = try await stack.onState("days", form)
                    #expect(few.output.split(separator: "\n").count == 30 + header, "\(form)")
                    #expect(few.error == days.error)
                    let rows = try await stack.onState("days", form, "--all").output.split(separator: "\n")
                    #expect(rows.count == Int(advice.1).map { $0 + header }, "\(form)")
                }
            }
        }
    }
}
