import Foundation
import Testing

/// A table on a page of the documentation that is generated from declarations in the code.
///
/// With `HEALTHBUS_WRITE_DOCS=1` in the environment, the page is updated instead of being compared.
struct GeneratedTable {
    let page: String
    /// The table is between `<!-- NAME -->` and `<!-- end -->`.
    let name: String

    func check(against table: String) throws {
        let url = Checkout.root.appending(path: page)
        let text = try String(contentsOf: url, encoding: .utf8)
        let begin = try #require(text.range(of: "<!-- \(name) -->\n"), "\(page) has no table \(name)")
        let end = try #require(text.range(of: "<!-- end -->", range: begin.upperBound..<text.endIndex))
        if ProcessInfo.processInfo.environment["HEALTHBUS_WRITE_DOCS"] == "1" {
            let new = text.replacingCharacters(in: begin.upperBound..<end.lowerBound, with: table)
            try new.write(to: url, atomically: true, encoding: .utf8)
        } else {
            #expect(
                text[begin.upperBound..<end.lowerBound] == table,
                "\(page) is behind the code: run this test once with HEALTHBUS_WRITE_DOCS=1")
        }
    }
}
