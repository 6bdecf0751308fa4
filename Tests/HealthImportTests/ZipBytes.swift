/// A zip archive in memory whose files are stored without compression.
struct ZipBytes {
    private(set) var bytes: [UInt8] = []

    /// - Parameter encrypted: sets the flag for traditional encryption on every file, but doesn't encrypt the bytes.
    init(_ files: [(name: String, bytes: [UInt8])], encrypted: Bool = false) {
        var directory: [UInt8] = []
        let flags = encrypted ? 0x0801 : 0x0800
        for (name, content) in files {
            let offset = bytes.count
            // Version, flags (names are UTF-8), method, time, date, checksum, sizes, lengths.
            let common =
                Self.two(20) + Self.two(flags) + Self.two(0) + Self.two(0) + Self.two(0x21)
                + Self.four(Self.checksum(content))
                + Self.four(content.count) + Self.four(content.count) + Self.two(name.utf8.count) + Self.two(0)
            bytes += [0x50, 0x4B, 3, 4] + common + Array(name.utf8) + content
            directory += [0x50, 0x4B, 1, 2] + Self.two(20) + common
            directory += Self.two(0) + Self.two(0) + Self.two(0) + Self.four(0) + Self.four(offset) + Array(name.utf8)
        }
        let start = bytes.count
        bytes +=
            directory + [0x50, 0x4B, 5, 6] + Self.two(0) + Self.two(0) + Self.two(files.count) + Self.two(files.count)
        bytes += Self.four(directory.count) + Self.four(start) + Self.two(0)
    }

    init(_ files: [(name: String, text: String)]) {
        self.init(files.map { (name: $0.name, bytes: Array($0.text.utf8)) })
    }

    private static func two(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8 & 255)] }

    private static func four(_ number: Int) -> [UInt8] { two(number & 0xFFFF) + two(number >> 16 & 0xFFFF) }

    /// CRC-32 of ISO 3309.
    private static func checksum(_ content: [UInt8]) -> Int {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in content {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return Int(~crc)
    }
}
