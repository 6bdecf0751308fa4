import HealthModel

/// FHIR's `Identifier`, by which servers find a resource again, whatever id they gave it.
package struct ResourceIdentifier: Sendable, Hashable {
    /// The prefix of our own systems. `X-` is for names that aren't registered.
    package static let base = "urn:x-healthbus:"
    /// Our own system for people.
    package static let people = base + "user"

    package let system: String
    package let value: String

    package init(system: String, value: String) { (self.system, self.value) = (system, value) }

    /// A short form that is unique to this identifier. For our own people it is the value, `me`; for others, and for a
    /// value with a colon, it is the value and a digest of the system: `12:6b9a3f01`.
    package var key: String {
        guard system != Self.people || value.contains(":") else { return value }
        return value + ":" + ContentDigest(Array(system.utf8)[...]).description.prefix(8)
    }

    /// The identifier as it appears in a resource.
    package var json: Value { ["system": .string(system), "value": .string(value)] }

    /// The search for this identifier, as a URL's query: `identifier=urn:x-healthbus:day%7Cme/2025-03-30`.
    package var query: String { "identifier=" + Self.inURL(token) }

    /// The same search's value, before it goes into a URL: `urn:x-healthbus:day|me/2025-03-30`.
    package var token: String { Self.escaped(system) + "|" + Self.escaped(value) }

    /// In searches, FHIR escapes `\`, `|`, `,` and `$`.
    private static func escaped(_ text: String) -> String {
        var out = ""
        for character in text.unicodeScalars {
            if "\\|,$".unicodeScalars.contains(character) { out += "\\" }
            out.unicodeScalars.append(character)
        }
        return out
    }

    private static func inURL(_ text: String) -> String {
        var out: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "~"), UInt8(ascii: ":"), UInt8(ascii: "/"):
                out.append(byte)
            default: out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
