/// A UUID made from names, for resources that have no id of their own. The same names always give the same UUID, and
/// different names give different ones. It is a version 8 UUID (RFC 9562), with bits from the XXH3-128 of the names, as
/// in a sample's id.
package enum NamedID {
    /// - Parameter names: their order matters; each may be any text.
    package static func uuid(_ names: [String]) -> SampleID {
        var bytes: [UInt8] = []
        for name in names {
            // Lengths are hashed too, so that no two lists give the same bytes.
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: name.utf8.count).littleEndian) {
                bytes.append(contentsOf: $0)
            }
            bytes.append(contentsOf: name.utf8)
        }
        let digest = ContentDigest(bytes[...]).bytes
        func word(_ part: ArraySlice<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
        return SampleID(
            high: word(digest.prefix(8)) & 0xFFFF_FFFF_FFFF_0FFF | 0x8000,
            low: word(digest.suffix(8)) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }
}
