import Foundation
import Testing

/// `docs/performance.md` lists the budgets that `make bench` checks. The benchmark program can be started.
@Suite struct BudgetTests {
    private struct Budget: Decodable {
        var id: String
        var what: String
        var unit: String
        var atMost: Double?
        var atLeast: Double?

        enum CodingKeys: String, CodingKey {
            case id, what, unit
            case atMost = "at most"
            case atLeast = "at least"
        }

        /// In the form in which the table and `bench.py --list` print it.
        var limit: String {
            let (kind, value) = atMost.map { ("at most", $0) } ?? ("at least", atLeast ?? .nan)
            return "\(kind) " + String(format: "%g", value) + " \(unit)"
        }
    }

    private let budgets: [Budget]
    private static let folder = Checkout.root.appending(path: "Benchmarks")

    init() throws {
        budgets = try JSONDecoder().decode(
            [Budget].self, from: Data(contentsOf: Self.folder.appending(path: "budgets.json")))
    }

    @Test func thePageHasEachBudget() throws {
        try GeneratedTable(page: "docs/performance.md", name: "budgets").check(
            against: "| row | what | budget |\n| --- | --- | --- |\n"
                + budgets.map { "| `\($0.id)` | \($0.what) | \($0.limit) |\n" }.joined())
    }

    @Test func eachHasOneLimitAndANameOfItsOwn() {
        #expect(Set(budgets.map(\.id)).count == budgets.count)
        for budget in budgets { #expect((budget.atMost == nil) != (budget.atLeast == nil), "\(budget.id)") }
    }

    /// A row that isn't filled in by any part of the benchmark would always be reported as left out.
    @Test func eachIsMeasured() throws {
        let parts = try FileManager.default.contentsOfDirectory(at: Self.folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "py" }.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        for budget in budgets {
            let isNamed = parts.contains("\"\(budget.id)\"")
            let isOfBothWays = budget.id.hasPrefix("codec-") && parts.contains("f\"codec-{way}\"")
            #expect(isNamed || isOfBothWays, "no part of Benchmarks measures \(budget.id)")
        }
    }

    /// When it starts, it loads all of its modules; without Python, it can't be started.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")))
    func itsProgramListsThem() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-B", Self.folder.appending(path: "bench.py").path, "--list"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(text == budgets.map { "\($0.id)\t\($0.limit)\t\($0.what)\n" }.joined())
    }
}
