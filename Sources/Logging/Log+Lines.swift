import Foundation

/// The value of a log event's field, as it is written.
package enum LogValue: Sendable, Equatable {
    case text(String)
    case integer(Int64)
    case number(Double)
    case flag(Bool)
}

/// Types that can be the value of a log event's field.
package protocol LogFieldValue: Sendable {
    var logValue: LogValue { get }
}

/// Fields of a log event, in order.
package typealias LogFields = KeyValuePairs<String, any LogFieldValue>

extension String: LogFieldValue { package var logValue: LogValue { .text(self) } }
extension Int: LogFieldValue { package var logValue: LogValue { .integer(Int64(self)) } }
extension Int32: LogFieldValue { package var logValue: LogValue { .integer(Int64(self)) } }
extension Int64: LogFieldValue { package var logValue: LogValue { .integer(self) } }
extension Double: LogFieldValue { package var logValue: LogValue { .number(self) } }
extension Bool: LogFieldValue { package var logValue: LogValue { .flag(self) } }
/// In seconds.
extension Duration: LogFieldValue { package var logValue: LogValue { .number(self / .seconds(1)) } }

extension Log {
    private var timestamp: String { Self.style.format(now()) }
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    func textLine(_ name: String, _ category: String, _ level: Level, _ fields: [(String, LogValue)])
        -> String
    {
        var line = "\(timestamp) \(level.rawValue) \(plugin) \(category) \(name)"
        for (key, value) in fields { line += " \(key)=\(Self.text(value))" }
        return line + "\n"
    }

    func jsonLine(_ name: String, _ category: String, _ level: Level, _ fields: [(String, LogValue)])
        -> String
    {
        var line = "{\"time\":\"\(timestamp)\",\"level\":\"\(level.rawValue)\",\"plugin\":\(Self.quoted(plugin))"
        line += ",\"category\":\(Self.quoted(category)),\"event\":\(Self.quoted(name)),\"fields\":{"
        line += fields.map { "\(Self.quoted($0)):\(Self.json($1))" }.joined(separator: ",")
        return line + "}}\n"
    }

    /// Rounded to thousandths, since nobody reads the other digits of a duration.
    private static func rounded(_ number: Double) -> Double {
        // Larger numbers have hardly any thousandths left, and infinity has none.
        abs(number) < 1e12 ? (number * 1000).rounded() / 1000 : number
    }

    private static func text(_ value: LogValue) -> String {
        switch value {
        case .text(let text):
            // Quoted where it would otherwise be read as something else, or break the line.
            let isPlain =
                !text.isEmpty
                && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\"" && $0 != "=" && !isControl($0) }
            return isPlain ? text : quoted(text)
        case .integer(let number): return String(number)
        case .number(let number): return String(rounded(number))
        case .flag(let flag): return String(flag)
        }
    }

    private static func json(_ value: LogValue) -> String {
        switch value {
        case .text(let text): quoted(text)
        case .integer(let number): String(number)
        // JSON has no form for numbers that aren't finite.
        case .number(let number): number.isFinite ? String(rounded(number)) : quoted(String(number))
        case .flag(let flag): String(flag)
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }

    /// A JSON string (RFC 8259 §7); DEL and the C1 controls are escaped too, since some terminals obey them.
    static func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            case let control where isControl(control):
                let hex = String(control.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}
