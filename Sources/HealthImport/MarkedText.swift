/// Text with the marks that `healthbus_xml_clean` leaves in it: zero bytes, and U+0001 for anything that isn't UTF-8.
enum MarkedText {
    /// The text with U+FFFD for each run of marks; nil if it has none.
    static func readable(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard bytes.contains(where: { $0 < 2 }) else { return nil }
        var text: [UInt8] = []
        var isInRun = false
        for byte in bytes {
            if byte >= 2 {
                text.append(byte)
            } else if !isInRun {
                text += [0xEF, 0xBF, 0xBD]
            }
            isInRun = byte < 2
        }
        return text
    }
}
