import Foundation

/// How explanations and lists print numbers.
package enum ShownNumber {
    /// As many decimals as needed, at most six.
    package static func exact(_ number: Double) -> String { trimmed(String(format: "%.6f", number)) }

    /// Two decimals at most.
    package static func short(_ number: Double) -> String { trimmed(String(format: "%.2f", number)) }

    package static func short(_ number: Double?) -> String { number.map { short($0) } ?? "" }

    /// "83 %".
    package static func percent(_ part: Double, of whole: Double) -> String {
        whole > 0 ? "\(Int((part / whole * 100).rounded())) %" : ""
    }

    private static func trimmed(_ text: String) -> String {
        var text = text
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text == "-0" ? "0" : text
    }
}
