/// SQL expressions for the backend's samples, as stored in its file.
enum BackendRows {
    /// The time in an id's first 48 bits, in microseconds. SQLite can't parse hexadecimal digits.
    private static func time(_ id: String) -> String {
        let digits = (0..<12).map { place in
            "((instr('0123456789ABCDEF', substr(hex(\(id)), \(place + 1), 1)) - 1) << \(44 - 4 * place))"
        }
        return "1000 * (\(digits.joined(separator: " + ")))"
    }

    /// When a sample began, in microseconds since 1970.
    static let start = "(shift + \(time("sample_rows.id")))"
    /// How long it lasted, in microseconds.
    static let duration = "iif(duration < 0, -duration, 1000000 * duration)"
    /// The number of its type in `texts`.
    static let type = "(SELECT type FROM kinds WHERE kinds.id = kind)"

    /// The `shift` of a row that is copied to a different id (given as an SQL literal).
    static func shift(under id: String) -> String { "\(start) - \(time(id))" }

    /// Id, type, start, duration, value, and whether it is deleted, ordered by id.
    static let content = """
        SELECT printf('%s %s %d %d %!.17g %d', hex(sample_rows.id), text, \(start), \(duration), value, deleted)
        FROM sample_rows LEFT JOIN texts ON texts.id = \(type) ORDER BY sample_rows.id
        """

    /// The same query for schema 3, where the table had the name that now belongs to the view.
    static let contentOfSchema3 = content.replacing("sample_rows", with: "samples")

    /// The same query for a file left by an earlier release.
    static let contentBefore = """
        SELECT printf('%s %s %d %d %!.17g %d', hex(samples.id), text, start, "end" - start, value, deleted)
        FROM samples LEFT JOIN texts ON texts.id = type ORDER BY samples.id
        """
}
