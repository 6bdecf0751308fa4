import Foundation
import HealthModel

package enum FileFormat: String, Sendable, CaseIterable {
    case csv, ndjson
    /// FHIR R4 resources.
    case fhir
    /// Open mHealth data points.
    case openMHealth = "open-mhealth"

    /// The extension of files in this format, without the dot.
    package var suffix: String {
        switch self {
        case .csv, .ndjson: rawValue
        case .fhir: "fhir.ndjson"
        case .openMHealth: "omh.ndjson"
        }
    }

    package init?(suffix: some StringProtocol) {
        guard let format = Self.allCases.first(where: { $0.suffix == suffix }) else { return nil }
        self = format
    }
}

/// The contents of one file: a type's samples, or the days, nights or workouts, for one person and one stretch of time.
///
/// A span and the path of its file are equivalent, so only the path is stored.
package struct FileSpan: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case samples(type: String)
        case days, nights, workouts
    }

    package var user: String
    package var content: Content
    package var period: FilePeriod
    package var format: FileFormat

    /// Relative to the folder: `user=me/samples/type=HKQuantityTypeIdentifierStepCount/month=2025-03.csv`,
    /// `user=me/days/year=2025.csv`.
    package var path: String { folder + "\(period.unit.rawValue)=\(period.text).\(format.suffix)" }

    /// The part of the path that all periods have in common, with the slash at its end.
    var folder: String {
        let folder =
            switch content {
            case .samples(let type): "samples/" + PathName.folders("type", type)
            case .days: "days"
            case .nights: "nights"
            case .workouts: "workouts"
            }
        return "\(PathName.folders("user", user))/\(folder)/"
    }

    package init(user: String, content: Content, period: FilePeriod, format: FileFormat) {
        (self.user, self.content, self.period, self.format) = (user, content, period, format)
    }

    /// The span whose file has this path; nil for any other path.
    package init?(path: String) {
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)[...]
        guard let file = parts.popLast(), let dot = file.firstIndex(of: "."),
            let format = FileFormat(suffix: file[file.index(after: dot)...]),
            let equals = file.firstIndex(of: "="), equals < dot,
            let unit = FilePeriod.Unit(rawValue: String(file[..<equals])),
            let period = FilePeriod(unit, text: file[file.index(after: equals)..<dot]),
            let user = PathName.take("user", from: &parts), let kind = parts.popFirst()
        else { return nil }
        let content: Content
        switch kind {
        case "samples":
            guard let type = PathName.take("type", from: &parts) else { return nil }
            content = .samples(type: type)
        case "days": content = .days
        case "nights": content = .nights
        case "workouts": content = .workouts
        default: return nil
        }
        guard parts.isEmpty else { return nil }
        self.init(user: user, content: content, period: period, format: format)
        guard self.path == path else { return nil }
    }
}

/// Names of people and types as parts of a path.
package enum PathName {
    /// ASCII letters, digits, `-` and `_` stay, and so do dots except at the beginning; any other byte becomes `%XX`,
    /// which DuckDB and Hive decode.
    package static func escaped(_ name: String) -> String {
        var out: [UInt8] = []
        for (index, byte) in name.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                out.append(byte)
            case UInt8(ascii: ".") where index > 0: out.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// In the usual file systems a folder's name has at most 255 bytes.
    private static let longest = 240

    /// `key=name`; the rest of a very long name goes into folders within it, `+=rest`.
    package static func folders(_ key: String, _ name: String) -> String {
        var rest = Substring(escaped(name))
        var folders = "\(key)=\(rest.prefix(longest))"
        rest = rest.dropFirst(longest)
        while !rest.isEmpty {
            folders += "/+=\(rest.prefix(longest))"
            rest = rest.dropFirst(longest)
        }
        return folders
    }

    /// Takes the folders of a name off the beginning of a path; nil if the path doesn't begin with them.
    package static func take(_ key: String, from parts: inout ArraySlice<Substring>) -> String? {
        guard let first = parts.first, first.hasPrefix(key + "=") else { return nil }
        parts.removeFirst()
        var text = String(first.dropFirst(key.utf8.count + 1))
        while let more = parts.first, more.hasPrefix("+=") {
            text += more.dropFirst(2)
            parts.removeFirst()
        }
        return text.isEmpty ? nil : text.removingPercentEncoding
    }
}
