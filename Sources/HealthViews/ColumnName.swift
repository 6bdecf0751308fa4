import HealthModel

/// The names of columns as they are written in SQL.
enum ColumnName {
    /// A figure's path as one lower-case name: `heartRate.average` becomes `heart_rate_average`, `hrvSDNNMilliseconds`
    /// becomes `hrv_sdnn_milliseconds`. Anything that isn't an ASCII letter or digit becomes `_`.
    static func make(_ path: [String]) -> String {
        let letters = Array(path.joined(separator: "_").unicodeScalars)
        var name = ""
        for (index, letter) in letters.enumerated() {
            guard letter.isASCII, letter.properties.isAlphabetic || letter.properties.numericType != nil else {
                name += "_"
                continue
            }
            if isUpper(letter), index > 0, letters[index - 1] != "_" {
                // A word begins at a capital after a lower-case letter, and at the last of several capitals.
                let isNext = index + 1 < letters.count && isLower(letters[index + 1])
                if !isUpper(letters[index - 1]) || isNext { name += "_" }
            }
            name += letter.properties.lowercaseMapping
        }
        return name
    }

    private static func isUpper(_ letter: Unicode.Scalar) -> Bool { ("A"..."Z").contains(letter) }
    private static func isLower(_ letter: Unicode.Scalar) -> Bool { ("a"..."z").contains(letter) }

    /// The name in double quotes, since a figure's name may be an SQL keyword.
    static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

    /// A string as an SQL literal.
    static func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
}

extension [ViewColumn] {
    /// Adds a figure's column, using the first name that isn't taken: `steps`, `steps_2`.
    mutating func append(
        figure path: [String], _ kind: ViewColumn.Kind, _ content: ViewColumn.Content,
        unit: String, absent: Value? = nil
    ) {
        let wanted = ColumnName.make(path)
        var name = wanted
        var number = 1
        while contains(where: { $0.name == name }) {
            number += 1
            name = "\(wanted)_\(number)"
        }
        append(
            ViewColumn(
                name, kind, unit.isEmpty ? "a figure" : "a figure, in \(unit)", content,
                unit: unit.isEmpty ? nil : unit,
                absent: absent))
    }
}
