/// What somebody who mistyped a word may have meant.
package enum Nearest {
    /// The candidate with the fewest edits (Levenshtein 1966; two letters swapped are one edit, Damerau 1964), if these
    /// are few for the word's length; the first one if several are equally close. A difference in case doesn't count as
    /// an edit, but among equally close candidates, the one whose case matches best comes first.
    package static func to(_ word: String, among candidates: [String]) -> String? {
        let letters = Array(word.lowercased().utf8)
        let ranked = candidates.map { candidate in
            (candidate: candidate, edits: distance(letters, Array(candidate.lowercased().utf8)))
        }
        guard let fewest = ranked.map(\.edits).min(), fewest <= max(1, word.utf8.count / 3) else { return nil }
        let nearest = ranked.filter { $0.edits == fewest }.map(\.candidate)
        return nearest.min { cases(word, $0) < cases(word, $1) }
    }

    /// How many letters differ only in case from the word's letter at the same position.
    private static func cases(_ word: String, _ candidate: String) -> Int {
        zip(word.utf8, candidate.utf8).count { $0 != $1 && $0 | 0x20 == $1 | 0x20 }
    }

    /// "did you mean 'steps'?"; if nothing is close, `other`, or else the list of all candidates.
    package static func hint(
        for word: String, among candidates: [String], quoted: Bool = true, else other: String? = nil
    ) -> String {
        let quote = quoted ? "'" : ""
        return to(word, among: candidates).map { "did you mean \(quote)\($0)\(quote)?" }
            ?? other ?? "choose from \(candidates.joined(separator: ", "))"
    }

    /// "the only user is 'me'", or "users are 'me', 'robin'".
    package static func users(_ names: [String]) -> String {
        let list = names.map { "'\($0)'" }.joined(separator: ", ")
        return (names.count == 1 ? "the only user is " : "users are ") + list
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
