/// How a request's body is compressed (RFC 9110, 8.4).
enum ContentCoding: Equatable {
    case gzip
    /// zlib's format, as in the RFC, or bare deflate, which some clients send instead.
    case deflate

    /// The codings that the server can decode, for `Accept-Encoding`.
    static let known = "gzip, deflate"

    /// nil when the body isn't compressed.
    /// - Throws: 415 for any other coding, and for a combination of several.
    static func of(_ headers: HTTPHeaders) throws(HTTPRefusal) -> ContentCoding? {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let names = headers.all("Content-Encoding").flatMap { $0.split(separator: ",") }
            .map { (name: Substring) in String(name.drop(while: isBlank).prefix { !isBlank($0) }).lowercased() }
            .filter { !$0.isEmpty && $0 != "identity" }
        switch names {
        case []: return nil
        case ["gzip"], ["x-gzip"]: return .gzip
        case ["deflate"]: return .deflate
        default:
            throw HTTPRefusal(
                415, "the body's Content-Encoding isn't known",
                hint: "send it as gzip, deflate or without Content-Encoding", headers: ["Accept-Encoding": known])
        }
    }
}
