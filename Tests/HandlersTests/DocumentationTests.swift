import Foundation
import Testing

/// What the documentation points to is there: the tests that show a statement, and the commands.
@Suite struct DocumentationTests {
    private let checkout: DocumentedNames

    init() throws { checkout = try DocumentedNames(root: DocumentedNames.checkout) }

    @Test func everyTestAndCommandThatThePagesNameExists() throws {
        let pages = try DocumentedNames.pages()
        #expect(pages.count >= 9)
        for (page, text) in pages { #expect(checkout.missing(in: text) == [], "\(page)") }
        // It looks where the names are.
        let statements = try #require(pages["docs/delivery-statements.md"])
        #expect(checkout.names(in: statements).count > 200)
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
