import Configuration
import Foundation
import HealthModel
import TestSupport
import Testing

/// A person who mistyped a bracket learns where.
@Suite struct JSONMistakeTests {
    @Test(arguments: [
        ("", 1, 1, "it is empty"),
        ("// only a comment\n", 2, 1, "it is empty"),
        ("{\n  \"a\" 1\n}", 2, 7, "a colon is missing after \"a\""),
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3, "a comma is missing before this"),
        ("{\n  \"a\": [1 2]\n}", 2, 11, "a comma is missing before this"),
        ("{\n  \"a\": {\n    \"b\": 1\n", 2, 8, "this { isn't closed"),
        ("{ \"a\": [1, { \"b\": 2 }", 1, 8, "this [ isn't closed"),
        ("{\n  \"a\": [1, 2}\n}", 2, 13, "this } closes the [ of line 2, which it can't"),
        ("{\n \"a\": \"steps }\n}", 2, 7, "the text that begins here isn't closed"),
        ("{ \"é€😀\": steps }", 1, 10, "a text needs quotes"),
        ("{ \"a\": True }", 1, 8, "neither a number nor true, false or null"),
        ("{ \"a\": 01 }", 1, 8, "this isn't a number"),
        ("{ \"a\": 1.2.3 }", 1, 8, "this isn't a number"),
        ("{ \"a\": , }", 1, 8, "a value is missing here"),
        ("{ , \"a\": 1 }", 1, 3, "a name in quotes is missing here"),
        ("{ \"a\": 1 }\n}", 2, 1, "the text goes on after its end"),
        ("# my stack\n{}", 1, 1, "a comment begins with //, not with #"),
        ("{\n  # the port\n  \"a\": 1 }", 2, 3, "a comment begins with //, not with #"),
        ("{ \"a\": 1 } /* more", 1, 12, "this comment isn't closed"),
        ("{ \"a\": \"\\u12\" }", 1, 9, "\\u needs four hexadecimal digits"),
        ("\u{FEFF}{ \"a\" }", 1, 7, "a colon is missing after \"a\""),
    ])
    func theFirstMistakeHasItsPlace(_ text: String, _ line: Int, _ column: Int, _ reason: String) throws {
        let mistake = try #require(JSONPlaces(text.utf8).mistake, "\(text)")
        #expect(mistake.line == line && mistake.column == column, "\(text): \(mistake)")
        #expect(mistake.reason.contains(reason), "\(text): \(mistake)")
        // The parser that reads the values refuses it as well.
        #expect(throws: (any Error).self) { try Value(json: text.utf8, comments: true) }
    }

    @Test(arguments: [
        "{}", "[]", "{ a: 1, }", "{ 'a': [1, 2,], }", "[+1, -1, .5, 5., 0x1F, 1e3, -0.5e-3]", "{ \"a\": null } // end",
        "/* begin */ { \"a\\\"\": \"\\u00e9\\n\" }", "\u{FEFF}{}", "[true, false, null]",
        "{ \"a\": \"it's\", 'b': '\"' }",
    ])
    func whatIsReadHasNone(_ text: String) throws {
        #expect(throws: Never.self) { try Value(json: text.utf8, comments: true) }
        #expect(JSONPlaces(text.utf8).mistake == nil, "\(text)")
    }

    /// Whatever is cut out of a configuration: if the result is refused, a position is named.
    @Test func everyRefusedTextHasAPlace() throws {
        let text = Array(#"{ "a": { "b": [1, -2.5, "x\n"], /* c */ 'd': true }, "e": null } // end"#.utf8)
        var refused = 0
        for start in text.indices {
            for length in 1...3 where start + length <= text.count {
                var cut = text
                cut.removeSubrange(start..<start + length)
                guard (try? Value(json: cut, comments: true)) == nil else { continue }
                refused += 1
                #expect(JSONPlaces(cut).mistake != nil, "\(String(decoding: cut, as: UTF8.self))")
            }
        }
        #expect(refused > 50)
    }

    @Test func configurationsAndManifestsNameIt() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/plugin.json"
        try "{\n  \"name\": \"x\"\n  \"version\": 1 }".write(toFile: file, atomically: true, encoding: .utf8)
        let problems = ManifestReader(file: file).problems
        #expect(problems.map(\.description) == ["\(file):3:3: isn't JSON: a comma is missing before this"])
    }
}
