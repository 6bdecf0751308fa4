/// What somebody who mistyped a word may have meant.
public enum Nearest {
    /// The candidate with the fewest edits (Levenshtein 1966), if they are few for the word's length; the first of equals.
    public static func to(_ word: String, among candidates: [String]) -> String? {
        let ranked = candidates.map { (candidate: $0, edits: distance(Array(word.utf8), Array($0.utf8))) }
        guard let best = ranked.min(by: { $0.edits < $1.edits }) else { return nil }
        return best.edits <= max(1, word.utf8.count / 3) ? best.candidate : nil
    }

    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var row = Array(0...b.count)
        for (i, letter) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, other) in b.enumerated() {
                let edited = min(row[j] + 1, row[j + 1] + 1, diagonal + (letter == other ? 0 : 1))
                diagonal = row[j + 1]
                row[j + 1] = edited
            }
        }
        return row[b.count]
    }
}
