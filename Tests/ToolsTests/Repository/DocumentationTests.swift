import Foundation
import HealthModel
import Testing

/// Everything that the documentation refers to exists: the commands, and the tests that demonstrate its statements.
@Suite struct DocumentationTests {
    /// Read once for all tests.
    private static let read = Result { try DocumentedNames() }
    private let checkout: DocumentedNames

    init() throws { checkout = try Self.read.get() }

    @Test func everyTestAndCommandThatThePagesNameExists() throws {
        let pages = try DocumentedNames.pages()
        #expect(pages.count >= 9)
        for (page, text) in pages { #expect(checkout.missing(in: text) == [], "\(page)") }
        // Checks that the search looks in the right places.
        let statements = try ["docs/delivery-statements.md", "docs/statements.md"].map { try #require(pages[$0]) }
        #expect(statements.allSatisfy { checkout.names(in: $0).count > 150 })
    }

    @Test func everyLinkLeadsSomewhere() throws {
        let links = DocumentedLinks(pages: try DocumentedNames.pages())
        for page in links.pages.keys { #expect(links.dead(in: page) == [], "\(page)") }
    }

    @Test func aDeadLinkIsFound() {
        let page =
            "[a](b.md) [c](#d) [e](#my-part) [f](architecture.md#nothing) [g](https://h.example.org)\n\n## My *part*"
        let links = DocumentedLinks(pages: ["docs/delivery.md": page, "docs/architecture.md": "# Architecture"])
        #expect(links.dead(in: "docs/delivery.md") == ["b.md", "#d", "architecture.md#nothing"])
    }

    /// Every option and every variable is documented.
    @Test func configurationListsEveryOptionAndVariable() throws {
        let page = try #require(try DocumentedNames.pages()["docs/configuration.md"])
        let plugins = Checkout.root.appending(path: "plugins").path
        var options: Set<String> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: plugins) {
            guard let text = FileManager.default.contents(atPath: "\(plugins)/\(name)/plugin.json") else { continue }
            let manifest = try Value(json: text, comments: true)
            options.formUnion(manifest["configuration"]["properties"].object?.keys.map { $0 } ?? [])
        }
        #expect(options.count > 40)
        for option in options.sorted() { #expect(page.contains("`\(option)`"), "\(option)") }
        let read = try DocumentedNames.variables()
        #expect(read.count > 15)
        // The variables that `notify` passes to a program are listed in delivery.md instead.
        for name in read.sorted() where !name.hasPrefix("HEALTHBUS_ALERT_") {
            #expect(page.contains("`\(name)`"), "\(name)")
        }
    }

    /// If the default stack differs from what a reader of the sources would expect, the page names the option, and the
    /// profile that sets it.
    @Test func everyChoiceNamesItsOptionAndTheProfilesThatSetIt() throws {
        let page = try #require(try DocumentedNames.pages()["docs/delivery-statements.md"])
        let table = try #require(page.components(separatedBy: "| option (profile) |").dropFirst().first)
        let plugins = Checkout.root.appending(path: "plugins").path
        let manifests = try FileManager.default.contentsOfDirectory(atPath: plugins)
            .compactMap { FileManager.default.contents(atPath: "\(plugins)/\($0)/plugin.json") }
            .map { String(decoding: $0, as: UTF8.self) }
        var rows = 0
        for line in table.components(separatedBy: "\n\n")[0].split(separator: "\n") {
            guard let row = line.firstMatch(of: #/\| (?:\w+ )?`([^`:]+)[^`]*` \(([^)]+)\) \|$/#) else { continue }
            let key = row.1.split(separator: ".").last.map(String.init) ?? ""
            #expect(manifests.contains { $0.contains("\"\(key)\":") }, "no option \(key)")
            for profile in row.2.components(separatedBy: ", ") where profile != "none" {
                let file = Checkout.root.appending(path: "configs/\(profile).json")
                let text = try String(contentsOf: file, encoding: .utf8)
                #expect(text.contains("\"\(key)\""), "\(profile) doesn't set \(key)")
            }
            rows += 1
        }
        #expect(rows == 17)
    }

    /// The first words of a page say whom it is for.
    @Test func eachPageSaysFirstWhomItIsFor() throws {
        for (page, text) in try DocumentedNames.pages() where page != "README.md" {
            let first = text.components(separatedBy: "\n\n").dropFirst().first ?? ""
            #expect(first.hasPrefix("For "), "\(page): \(first.prefix(80))")
        }
    }

    @Test(arguments: [
        ("`nobodyWroteThis()`", "nobodyWroteThis"),
        ("(tests `everyTestAndCommandThatThePagesNameExists`, `norThis`)", "norThis"),
        ("held by `NeverMadeTests`", "NeverMadeTests"),
        ("| statement | shown by |\n| --- | --- |\n| so | `healthbus up`, `notThisEither` |", "notThisEither"),
        ("`healthbus fly`", "healthbus fly"),
        ("`healthbus types forbid TYPE`", "healthbus types forbid"),
        ("```\nhealthbus up --fast   # at once\n```", "healthbus up --fast"),
        ("`healthbus days --dry-run`", "healthbus days --dry-run"),
    ])
    func whatThereIsNotIsFound(_ page: String, _ name: String) { #expect(checkout.missing(in: page) == [name]) }

    @Test(arguments: [
        "`whatThereIsNotIsFound()`, `DocumentationTests`", "`healthbus types deny TYPE`, `types off TYPE`",
        "`healthbus tap [PREFIX…]`", "```\nhealthbus sync --history 90 --json   # or all\nhealthbus up &\n```",
        "`healthbus run <instance> --takeover`, `healthbus-steps`, `compute`",
        "| shown by | what |\n| --- | --- |\n| `whatThereIsNotIsFound` | `anythingElse` |\n\nAnd `soOn`.",
    ])
    func whatIsThereIsNot(_ page: String) { #expect(checkout.missing(in: page) == []) }
}
