import Foundation
import Testing

/// The mutants can be made from the current sources, and the tests that should catch them exist. `make mutants` shows
/// whether the tests catch them.
@Suite struct MutantListTests {
    @Test func everyPlaceIsThereOnce() throws {
        for mutant in try MutantList().mutants {
            let places = try MutantList.text(mutant.file).components(separatedBy: mutant.old).count - 1
            #expect(!mutant.old.isEmpty && places == 1, "\(mutant.name): \(places) places in \(mutant.file)")
            #expect(
                mutant.new.contains("MUTANT"), "\(mutant.name): what is written instead doesn't ask whether it is made")
        }
    }

    @Test func everyNameIsItsOwn() throws {
        let names = try MutantList().mutants.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test func everyRuleHasAMutant() throws {
        #expect(Set(try MutantList().mutants.map(\.rule)) == Set(1...12))
    }

    @Test func everyTestThatShouldCatchOneIsThere() throws {
        let folder = MutantList.checkout + "/Tests"
        let files = try #require(FileManager.default.enumerator(atPath: folder)).compactMap { $0 as? String }
        let sources = try files.filter { $0.hasSuffix("Tests.swift") }.map { try MutantList.text("Tests/" + $0) }
        for mutant in try MutantList().mutants {
            #expect(!mutant.tests.isEmpty, "\(mutant.name)")
            for test in mutant.tests {
                let parts = test.split(separator: "/")
                let isThere =
                    parts.count == 2
                    && sources.contains { $0.contains("struct \(parts[0]) {") && $0.contains("func \(parts[1])(") }
                #expect(isThere, "\(mutant.name): there is no test \(test)")
            }
        }
    }

    /// docs/reliability.md has a row for each mutant under its rule, and the row lists the mutant's tests.
    @Test func theDocumentationNamesExactlyThese() throws {
        let mutants = try MutantList().mutants
        var rule = 0
        var rows: [String] = []
        for line in try MutantList.text("docs/reliability.md").split(separator: "\n") {
            if line.hasPrefix("### "), let number = Int(line.dropFirst(4).prefix { $0.isNumber }) { rule = number }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard line.hasPrefix("| `"), cells.count == 3 else { continue }
            rows.append("\(rule) \(cells[0]) \(cells[2])")
        }
        let expected = mutants.map { mutant in
            "\(mutant.rule) `\(mutant.name)` " + mutant.tests.map { "`\($0)`" }.joined(separator: ", ")
        }
        #expect(rows == expected)
    }
}
