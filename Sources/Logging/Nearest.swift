/// What somebody who mistyped a word may have meant.
package enum Nearest {
    /// The candidate with the fewest edits (Levenshtein 1966; swapping two letters is one edit, Damerau 1964), if they
    /// are few for the word's length; the first if several are equal.
    package static func to(_ word: String, among candidates: [String]) -> String? {
        let ranked = candidates.map { (candidate: $0, edits: distance(Array(word.utf8), Array($0.utf8))) }
        guard let best = ranked.min(by: { $0.edits < $1.edits }) else { return nil }
        return best.edits <= max(1, word.utf8.count / 3) ? best.candidate : nil
    }

    /// "did you mean 'steps'?"; if nothing is close, `other`, or else the list of all candidates.
    package static func hint(
        for word: String, among candidates: [String], quoted: Bool = true, else other: String? = nil
    ) -> String {
        let quote = quoted ? "'" : ""
        return to(word, among: candidates).map { "did you mean \(quote)\($0)\(quote)?" }
            ?? other ?? "there are: \(candidates.joined(separator: ", "))"
    }

    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var before: [Int] = []
        var above: [Int] = []
        var row = Array(0...b.count)
        for i in a.indices {
            (before, above) = (above, row)
            row[0] = i + 1
            for j in b.indices {
                row[j + 1] = min(row[j] + 1, above[j + 1] + 1, above[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { row[j + 1] = min(row[j + 1], before[j - 1] + 1) }
            }
        }
        return row[b.count]
    }
}
