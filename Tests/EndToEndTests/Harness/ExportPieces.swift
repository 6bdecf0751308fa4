import Foundation
import HealthModel

/// An export taken apart into its elements, each of them whole (a workout with its children, a correlation with its
/// records), so that other exports can be made from them: parts, copies, other orders.
///
/// Relies on the lines that `healthbus generate` writes, not on the product's own parser.
struct ExportPieces: Sendable {
    struct Element: Sendable {
        var text: ArraySlice<UInt8>
        /// The printed date on which the element begins; for a ring summary, the date of the summary.
        var day: String
        /// When the element was stored, as printed; for a ring summary, the end of its day.
        var created: String
        /// The route files that it refers to.
        var routes: [String]

        var isRings: Bool { text.starts(with: " <ActivitySummary ".utf8) }

        /// A ring summary from earlier in the same day, with less exercise.
        var halfDone: Element {
            var earlier = self
            let exercise = Array(" appleExerciseTime=\"".utf8)
            guard let found = text.firstRange(of: exercise) else { return earlier }
            let digits = text[found.upperBound...].prefix { $0 != UInt8(ascii: "\"") }
            earlier.text.replaceSubrange(digits.indices, with: "3".utf8)
            return earlier
        }
    }

    /// Everything before the first element, including the date of the export.
    private let head: ArraySlice<UInt8>
    let elements: [Element]
    /// The content of routes, by the names that elements use for them.
    private let routes: [String: [UInt8]]

    /// The days on which at least one element begins, in order.
    var days: [String] { Set(elements.map(\.day)).sorted() }

    init(of path: String) throws {
        let entries = try Archive.entries(of: path)
        guard let text = entries.first(where: { $0.name.hasSuffix("/export.xml") })?.content else {
            throw HarnessError("\(path) has no export.xml")
        }
        var routes: [String: [UInt8]] = [:]
        for entry in entries where entry.name.hasSuffix(".gpx") {
            routes["/" + entry.name.split(separator: "/").dropFirst().joined(separator: "/")] = entry.content
        }
        var head: ArraySlice<UInt8>?
        var elements: [Element] = []
        var open: (from: Int, name: ArraySlice<UInt8>)?
        for line in Lines(text) {
            if let (from, name) = open {
                guard line.starts(with: Array(" </".utf8) + name + Array(">".utf8)) else { continue }
                elements.append(try Element(text[from..<line.endIndex]))
                open = nil
            } else if Self.names.contains(where: { line.starts(with: $0) }) {
                if head == nil { head = text[..<line.startIndex] }
                if line.suffix(3).elementsEqual("/>\n".utf8) {
                    elements.append(try Element(line))
                } else {
                    open = (line.startIndex, line.dropFirst(2).prefix { $0 != UInt8(ascii: " ") })
                }
            }
        }
        guard let head, open == nil else { throw HarnessError("\(path) isn't laid out as a made-up export is") }
        self.head = head
        self.elements = elements
        self.routes = routes
    }

    private static let names = ["Record", "Correlation", "Workout", "ActivitySummary"].map { Array(" <\($0) ".utf8) }

    /// Writes an export that contains the given elements.
    /// - Parameters:
    ///   - exported: the date of the export, as printed, in the offset of the pieces.
    ///   - offset: the offset of all printed dates, which may be that of the pieces.
    ///   - number: the number of this file, since the printed addresses of devices differ from file to file.
    func write(_ elements: [Element], exported: String, offset: String, number: Int, to path: String) throws {
        var text: [UInt8] = []
        text.reserveCapacity(elements.reduce(head.count + 64) { $0 + $1.text.count })
        text += head
        try Self.replace(after: "<ExportDate value=\"", by: exported, in: &text)
        for element in elements { text += element.text }
        text += "</HealthData>\n".utf8
        Self.readdress(&text, number)
        if !exported.hasSuffix(offset) { try Self.reprint(&text, offset) }
        var entries = [(name: "apple_health_export/export.xml", content: text)]
        for name in Set(elements.flatMap(\.routes)).sorted() {
            guard let route = routes[name] else { throw HarnessError("there is no \(name)") }
            entries.append((name: "apple_health_export" + name, content: route))
        }
        try Archive.write(entries, to: path)
    }

    private static func replace(after prefix: String, by replacement: String, in text: inout [UInt8]) throws {
        guard let found = text.firstRange(of: Array(prefix.utf8)) else { throw HarnessError("no \(prefix)") }
        text.replaceSubrange(found.upperBound..<found.upperBound + replacement.utf8.count, with: replacement.utf8)
    }

    /// Devices are printed with an address that is different in every export: `<<HKDevice: 0x3…>, name:…`.
    private static func readdress(_ text: inout [UInt8], _ number: Int) {
        let mark = Array("HKDevice: 0x".utf8)
        let digits = Array(String(format: "%06x", number &* 0x1_10A0 & 0xFF_FFFF).utf8)
        var at = 0
        while let next = text[at...].firstIndex(of: mark[0]) {
            at = next + 1
            guard text[next...].starts(with: mark) else { continue }
            // The first digit is kept and the next six are replaced; an address has more than seven.
            text.replaceSubrange(next + mark.count + 1..<next + mark.count + 7, with: digits)
        }
    }

    /// Rewrites all dates one hour earlier, with the given offset, as the same phone would print them in winter.
    private static func reprint(_ text: inout [UInt8], _ offset: String) throws {
        let summer = Array(" +0200\"".utf8)
        let winter = Array(offset.utf8)
        guard offset == "+0100" else { throw HarnessError("dates can't be printed in \(offset)") }
        func two(_ at: Int) -> Int { Int(text[at] - 48) * 10 + Int(text[at + 1] - 48) }
        var at = 0
        while let next = text[at...].firstIndex(of: summer[0]) {
            at = next + 1
            guard text[next...].starts(with: summer) else { continue }
            text.replaceSubrange(next + 1..<next + 6, with: winter)
            let hour = (two(next - 8) + 23) % 24
            text.replaceSubrange(next - 8..<next - 6, with: [UInt8(48 + hour / 10), UInt8(48 + hour % 10)])
            guard hour == 23, let day = LocalDay(String(decoding: text[next - 19..<next - 9], as: UTF8.self)) else {
                continue
            }
            text.replaceSubrange(next - 19..<next - 9, with: day.adding(days: -1).description.utf8)
        }
    }
}

extension ExportPieces.Element {
    fileprivate init(_ text: ArraySlice<UInt8>) throws {
        self.text = text
        let first = text.prefix { $0 != UInt8(ascii: "\n") }
        if let date = Self.attribute("dateComponents", of: first) {
            (day, created, routes) = (date, date + " 23:59:59", [])
            return
        }
        guard let start = Self.attribute("startDate", of: first),
            let created = Self.attribute("creationDate", of: first)
        else { throw HarnessError("an element without dates: \(String(decoding: first, as: UTF8.self))") }
        day = String(start.prefix(10))
        self.created = created
        routes = Self.attribute("FileReference path", of: text).map { [$0] } ?? []
    }

    private static func attribute(_ name: String, of text: ArraySlice<UInt8>) -> String? {
        let mark = Array((name == "FileReference path" ? "<" : " ").utf8) + Array("\(name)=\"".utf8)
        guard let found = text.firstRange(of: mark) else { return nil }
        return String(decoding: text[found.upperBound...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
    }
}

/// The lines of a text, each including its line ending.
private struct Lines: Sequence, IteratorProtocol {
    private let text: [UInt8]
    private var at = 0

    init(_ text: [UInt8]) { self.text = text }

    mutating func next() -> ArraySlice<UInt8>? {
        guard at < text.count else { return nil }
        let end = text[at...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? text.count
        defer { at = end }
        return text[at..<end]
    }
}
