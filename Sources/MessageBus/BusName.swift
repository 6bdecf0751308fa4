/// How those on a bus are named: an instance by its own name; a tool by `client-`, whose key it has, and two numbers.
///
/// The two numbers make a tool's owner certain: `client-heart-rate-7-9` belongs to 'heart-rate', and never to 'heart'.
package enum BusName {
    static let toolPrefix = "client-"

    /// What the names of somebody's tools begin with; of nobody's where the bus asks for no key.
    package static func toolPrefix(of owner: String?) -> String { toolPrefix + (owner.map { $0 + "-" } ?? "") }

    package static func isTool(_ name: String) -> Bool { name.hasPrefix(toolPrefix) }

    /// Whose tool a name is; nil where it isn't a tool's, or names nobody.
    package static func owner(ofTool name: String) -> String? {
        guard isTool(name) else { return nil }
        let parts = name.dropFirst(toolPrefix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count > 2, areNumbers(parts.suffix(2).joined(separator: "-").utf8) else { return nil }
        return parts.dropLast(2).joined(separator: "-")
    }

    /// Who answers for what a name does: a tool's owner, or the name itself.
    package static func owner(of name: String) -> String { owner(ofTool: name) ?? name }

    /// Whether this is how a tool's name ends: two numbers with a hyphen between them.
    static func areNumbers(_ bytes: some Collection<UInt8>) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.count == 2
            && parts.allSatisfy { part in
                (1...20).contains(part.count)
                    && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
    }
}
