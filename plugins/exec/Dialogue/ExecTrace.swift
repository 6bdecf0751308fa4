import Foundation

/// Why a program ended, according to its standard error: "KeyError: 'pages' (handler.py, line 14)". Pure.
///
/// It knows how Python, Node and Swift report an uncaught error; for any other program the last line is used.
package enum ExecTrace {
    private static let longest = 300

    /// - Parameters:
    ///   - lines: the last lines, oldest first.
    ///   - folder: the plugin's own folder; locations in it are preferred, since the author looks there first.
    package static func summary(of lines: [String], folder: String) -> String? {
        let found = python(lines, folder) ?? node(lines, folder) ?? swift(lines, folder)
        if let (message, place) = found {
            let shown = String(message.prefix(longest))
            return place.map { "\(shown) (\($0.file), line \($0.line))" } ?? shown
        }
        let last = lines.last { !$0.allSatisfy(\.isWhitespace) }
        return last.map { String($0.drop { $0 == " " }.prefix(longest)) }
    }

    private typealias Found = (message: String, place: Place?)

    private struct Place {
        var file: String
        var line: Int
        var isOwn: Bool

        init(_ path: Substring, _ line: Int, _ folder: String) {
            let path = path.hasPrefix("file://") ? path.dropFirst(7) : path
            let isInside = path.hasPrefix(folder + "/")
            file = isInside ? String(path.dropFirst(folder.count + 1)) : (String(path) as NSString).lastPathComponent
            self.line = line
            isOwn = isInside || !(path.hasPrefix("/") || path.hasPrefix("<") || path.hasPrefix("node:"))
        }
    }

    /// `  File "/walks/handler.py", line 14, in compute`: the innermost frame last, then the exception.
    private static func python(_ lines: [String], _ folder: String) -> Found? {
        func place(_ line: String) -> Place? {
            let text = line.drop { $0 == " " }
            guard text.hasPrefix("File \""), let end = text.dropFirst(6).firstIndex(of: "\"") else { return nil }
            let rest = text[end...]
            guard rest.hasPrefix("\", line "), let number = Int(rest.dropFirst(8).prefix { $0.isNumber }) else {
                return nil
            }
            return Place(text[text.index(text.startIndex, offsetBy: 6)..<end], number, folder)
        }
        guard let last = lines.lastIndex(where: { place($0) != nil }),
            let message = lines[last...].first(where: { $0.first.map { !$0.isWhitespace } == true })
        else { return nil }
        // One exception may follow from another: the last traceback is the one that ended the program.
        let begin = lines[..<last].lastIndex { $0.hasPrefix("Traceback (") } ?? 0
        let places = lines[begin...last].compactMap(place)
        return (message, places.last(where: \.isOwn) ?? places.last)
    }

    /// ` at compute (/walks/handler.js:14:9)`: the error comes first, then the frames, innermost first.
    private static func node(_ lines: [String], _ folder: String) -> Found? {
        func isFrame(_ line: String) -> Bool { line.hasPrefix("    at ") }
        func place(_ text: Substring) -> Place? {
            let parts = text.drop { $0 == " " }.split(separator: ":")
            let numbers = parts.suffix(2).compactMap { Int($0) }
            guard let line = numbers.first, parts.count > numbers.count else { return nil }
            return Place(Substring(parts.dropLast(numbers.count).joined(separator: ":")), line, folder)
        }
        guard let last = lines.lastIndex(where: isFrame) else { return nil }
        let first = lines[..<last].lastIndex { !isFrame($0) }.map { $0 + 1 } ?? 0
        guard
            let message = lines[..<first].last(where: {
                $0.contains("Error") || $0.first.map { $0.isLetter } == true
            })
        else { return nil }
        let frames = lines[first...last].compactMap { line -> Place? in
            let text = line.hasSuffix(")") ? line.dropLast().split(separator: "(").last : line.dropFirst(7)
            return text.flatMap(place)
        }
        // A syntax error has no frame of its own: its location is given above the line that is wrong.
        let above = lines[..<first].filter { $0.hasPrefix("/") || $0.hasPrefix("file://") }.compactMap {
            place($0[...])
        }
        return (message, frames.first(where: \.isOwn) ?? above.last(where: \.isOwn) ?? frames.first)
    }

    /// `handler/handler.swift:12: Fatal error: Index out of range`.
    private static func swift(_ lines: [String], _ folder: String) -> Found? {
        for line in lines.reversed() {
            guard let end = line.firstRange(of: ".swift:")?.upperBound else { continue }
            let digits = line[end...].prefix { $0.isNumber }
            let rest = line[digits.endIndex...]
            guard let number = Int(digits), rest.hasPrefix(": ") else { continue }
            return (String(rest.dropFirst(2)), Place(line[..<line.index(before: end)], number, folder))
        }
        return nil
    }
}
