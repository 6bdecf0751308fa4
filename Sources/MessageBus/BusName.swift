/// Names on the bus: an instance has its own name; a tool's name consists of `client-`, the owner of its key, and two
/// numbers.
///
/// The two numbers make the owner of a tool unambiguous: `client-heart-rate-7-9` belongs to 'heart-rate', never to
/// 'heart'.
package enum BusName {
    static let toolPrefix = "client-"

    /// The prefix of the names of an owner's tools; on a bus without keys there is no owner.
    package static func toolPrefix(of owner: String?) -> String { toolPrefix + (owner.map { $0 + "-" } ?? "") }

    package static func isTool(_ name: String) -> Bool { name.hasPrefix(toolPrefix) }

    /// The owner of a tool with this name; nil if it isn't a tool's name, or names no owner.
    package static func owner(ofTool name: String) -> String? {
        guard isTool(name) else { return nil }
        let parts = name.dropFirst(toolPrefix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count > 2, areNumbers(parts.suffix(2).joined(separator: "-").utf8) else { return nil }
        return parts.dropLast(2).joined(separator: "-")
    }

    /// The identity responsible for a name: a tool's owner, or the name itself.
    package static func owner(of name: String) -> String { owner(ofTool: name) ?? name }

    /// Whether these bytes can end a tool's name: two numbers with a hyphen between them.
    static func areNumbers(_ bytes: some Collection<UInt8>) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.count == 2
            && parts.allSatisfy { part in
                (1...20).contains(part.count)
                    && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
    }
}
