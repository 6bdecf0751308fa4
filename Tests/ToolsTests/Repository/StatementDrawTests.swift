import Foundation
import TestSupport
import Testing

/// Tests `make statements`, the script that draws statements at random and prints the tests or commands that
/// demonstrate each of them.
@Suite(.inTurn) struct StatementDrawTests {
    private func draw(_ words: String...) throws -> (status: Int32, output: String, error: String) {
        let script = Checkout.root.appending(path: "Tests/Statements/draw.py").path
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", script] + words
        let folder = try TemporaryFolder()
        let (output, error) = (folder.path + "/output", folder.path + "/error")
        for file in [output, error] { try Data().write(to: URL(filePath: file)) }
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: error))
        try process.run()
        process.waitUntilExit()
        return (
            process.terminationStatus, try String(contentsOfFile: output, encoding: .utf8),
            try String(contentsOfFile: error, encoding: .utf8)
        )
    }

    @Test func everyStatementIsShownOrSaysWhyItIsNotBuilt() throws {
        let all = try draw("--count", "all")
        #expect(all.status == 0, "\(all.error)")
        #expect(all.output.contains("    docs/statements.md:") && all.output.contains("    docs/places.md:"))
        #expect(all.output.components(separatedBy: "    docs/").count > 200)
    }

    @Test func aSeedDrawsTheSame() throws {
        let first = try draw("--seed", "3")
        let again = try draw("--seed", "3")
        #expect(first.output == again.output)
        #expect(try first.output != draw("--seed", "4").output)
        #expect(first.output.components(separatedBy: "    docs/").count == 51)
    }

    /// The script reports a test that was renamed, a command that is gone, and a row that names nothing.
    @Test func whatShowsNothingIsFound() throws {
        let folder = try TemporaryFolder()
        for place in ["docs", "Tests", "Sources/healthbus"] {
            try FileManager.default.createDirectory(
                atPath: folder.path + "/" + place, withIntermediateDirectories: true)
        }
        func write(_ file: String, _ text: String) throws {
            try text.write(toFile: folder.path + "/" + file, atomically: true, encoding: .utf8)
        }
        let head = "| statement | shown by |\n| --- | --- |\n"
        try write("Tests/A.swift", "@Test func thereIs() {}\n")
        try write("Makefile", "profile: FLAG += x\nprofile: build\n")
        try write("Sources/healthbus/Up.swift", "name: \"healthbus up\", summary: \"Run.\", examples: []\n")
        for page in ["delivery-statements", "places"] {
            try write("docs/\(page).md", head + "| One. | `thereIs`, `healthbus up` |\n")
        }
        try write(
            "docs/statements.md",
            head + "| Two. | `thereWas` |\n| Three. | `healthbus fly` |\n| Four. | words |\n"
                + "| Five. | `make haste` |\n| Six. | `make profile` |\n")
        let wrong = try draw("--root", folder.path)
        #expect(wrong.status == 1)
        for line in ["3: thereWas", "4: healthbus fly", "5: words", "6: make haste"] {
            #expect(wrong.error.contains("docs/statements.md:\(line)"), "\(wrong.error)")
        }
        try write("docs/statements.md", head + "| Two. | `thereIs` |\n")
        #expect(try draw("--root", folder.path).status == 0)
    }
}
