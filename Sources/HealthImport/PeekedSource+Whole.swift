import HealthModel

// A file in the archive is read completely in advance if it is small enough, because its content decides whether it
// must be processed further.
extension PeekedSource {
    /// Enough for a route of about ten hours at one point per second.
    private static let wholeLimit = 8 << 20

    convenience init(whole source: any ByteSource) { self.init(source, limit: Self.wholeLimit) }

    /// The whole content; nil if it is too long to be held in memory.
    /// - Throws: `ArchiveDamage` if damage cut the content short.
    func whole() throws -> [UInt8]? {
        if let failure { throw failure }
        return isWhole ? head : nil
    }
}

extension PieceHash {
    /// Identifies content together with everything else that the result of reading it depends on.
    init(_ parts: [String], _ content: [UInt8]) {
        let hash = ContentHash()
        for part in parts { hash.add(Array((part + "\0").utf8)) }
        hash.add(content)
        self.init(hash)
    }
}
