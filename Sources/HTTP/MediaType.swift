/// The content of a `Content-Type`: "application/json; charset=utf-8" (RFC 9110, 8.3.1). The parser is strict: anything
/// else is nil.
package struct MediaType: Sendable, Equatable {
    /// Lower case: "application/json".
    package let essence: String
    /// The parameters by lower-case name; their values are unchanged, without quotes.
    package let parameters: [String: String]

    package init?(_ field: String) {
        var rest = Substring(field)
        func spaces() { rest = rest.drop { $0 == " " || $0 == "\t" } }
        func symbol(_ character: Character) -> Bool {
            guard rest.first == character else { return false }
            rest.removeFirst()
            return true
        }
        func token() -> String? {
            let text = rest.prefix { Self.isToken($0) }
            rest = rest[text.endIndex...]
            return text.isEmpty ? nil : String(text)
        }

        spaces()
        guard let type = token(), symbol("/"), let subtype = token() else { return nil }
        var parameters: [String: String] = [:]
        spaces()
        while !rest.isEmpty {
            guard symbol(";") else { return nil }
            spaces()
            // Some clients send "a/b;" with nothing after it.
            if rest.isEmpty { break }
            guard let name = token()?.lowercased(), symbol("="), parameters[name] == nil,
                let value = rest.first == "\"" ? Self.quoted(&rest) : token()
            else { return nil }
            parameters[name] = value
            spaces()
        }
        essence = "\(type)/\(subtype)".lowercased()
        self.parameters = parameters
    }

    /// A quoted string, in which the character after a backslash is taken literally.
    private static func quoted(_ rest: inout Substring) -> String? {
        var text = ""
        rest.removeFirst()
        while let character = rest.popFirst() {
            if character == "\"" { return text }
            guard character == "\\" else {
                text.append(character)
                continue
            }
            guard let next = rest.popFirst() else { return nil }
            text.append(next)
        }
        return nil
    }

    private static func isToken(_ character: Character) -> Bool {
        guard let byte = character.asciiValue else { return false }
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            return true
        default: return "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
