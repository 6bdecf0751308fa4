import HealthModel

/// FHIR's `Identifier`: how servers find a resource again, whatever id they gave it.
package struct ResourceIdentifier: Sendable, Hashable {
    /// What our own systems begin with. `X-` is for names that nobody has registered.
    package static let base = "urn:x-healthbus:"

    package let system: String
    package let value: String

    package init(system: String, value: String) { (self.system, self.value) = (system, value) }

    /// As a resource has it.
    package var json: Value { ["system": .string(system), "value": .string(value)] }

    /// The search for it, as in the query of a URL: `identifier=urn:x-healthbus:day%7Cme/2025-03-30`.
    package var query: String { "identifier=" + Self.escaped(system) + "%7C" + Self.escaped(value) }

    /// For a search FHIR escapes `\`, `|`, `,` and `$`; then come the rules of URLs.
    private static func escaped(_ text: String) -> String {
        var out: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        func append(_ byte: UInt8) {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "~"), UInt8(ascii: ":"), UInt8(ascii: "/"):
                out.append(byte)
            default: out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"), UInt8(ascii: "|"), UInt8(ascii: ","), UInt8(ascii: "$"):
                append(UInt8(ascii: "\\"))
            default: break
            }
            append(byte)
        }
        return String(decoding: out, as: UTF8.self)
    }
}

/// Who people are at the place that gets their resources: an identifier for each, never a name.
package struct PatientNames: Sendable, Equatable {
    private let texts: [String: String]

    /// - Parameter options: an object with a text for each user: `system|value`, or a value of our own system.
    package init(_ options: Value) {
        texts = (options.object ?? [:]).compactMapValues(\.string).filter { !$0.value.isEmpty }
    }

    /// As it was configured, to notice a change.
    package var kept: Value { .object(texts.mapValues { .string($0) }) }

    package var isEmpty: Bool { texts.isEmpty }

    /// The user's own name in our own system, unless configured.
    package func identifier(of user: String) -> ResourceIdentifier {
        let own = ResourceIdentifier.base + "user"
        guard let text = texts[user] else { return ResourceIdentifier(system: own, value: user) }
        guard let bar = text.firstIndex(of: "|"), bar > text.startIndex, text.index(after: bar) < text.endIndex else {
            return ResourceIdentifier(system: own, value: text)
        }
        return ResourceIdentifier(system: String(text[..<bar]), value: String(text[text.index(after: bar)...]))
    }
}
