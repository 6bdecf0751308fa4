import Foundation

/// Broken links on a page of the documentation: those to a file that doesn't exist, or to a heading that the page
/// doesn't have.
struct DocumentedLinks {
    /// The text of the pages, by path within the checkout.
    let pages: [String: String]
    private let headings: [String: Set<String>]

    init(pages: [String: String]) {
        self.pages = pages
        headings = pages.mapValues(Self.headings)
    }

    func dead(in page: String) -> [String] {
        (pages[page] ?? "").matches(of: #/\]\(([^)\s]+)\)/#).map { String($0.1) }.filter { !leads($0, from: page) }
    }

    private func leads(_ link: String, from page: String) -> Bool {
        if link.contains(#/^[a-z]+:/#) { return true }
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let folder = URL(filePath: "/" + page).deletingLastPathComponent()
        let target =
            parts[0].isEmpty ? page : String(folder.appending(path: parts[0]).standardizedFileURL.path.dropFirst())
        guard FileManager.default.fileExists(atPath: Checkout.root.appending(path: target).path) else {
            return false
        }
        guard parts.count > 1, let headings = headings[target] else { return parts.count == 1 }
        return headings.contains(parts[1])
    }

    /// The anchors of headings in the form that GitHub gives them: lower case, without punctuation, and with words
    /// joined by hyphens.
    private static func headings(of text: String) -> Set<String> {
        var headings: Set<String> = []
        var isCode = false
        let heading = #/#+ (.*)/#
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") { isCode.toggle() }
            guard !isCode, line.hasPrefix("#"), let title = line.wholeMatch(of: heading)?.1 else { continue }
            headings.insert(
                title.lowercased().replacing(" ", with: "-").filter { $0.isLetter || $0.isNumber || "-_".contains($0) })
        }
        return headings
    }
}
