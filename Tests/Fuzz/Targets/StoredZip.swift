import CZlib

/// An archive of uncompressed files, so that changing a byte of the input changes a byte of a file.
struct StoredZip {
    private(set) var bytes: [UInt8] = []

    init(_ files: [(name: String, bytes: [UInt8])]) {
        var directory: [UInt8] = []
        for (name, content) in files {
            let offset = bytes.count
            let checksum = content.withUnsafeBufferPointer { Int(crc32(0, $0.baseAddress, UInt32($0.count))) }
            // Version, flags (names are UTF-8), method, time, date, checksum, sizes, lengths.
            let common =
                Self.two(20) + Self.two(0x0800) + Self.two(0) + Self.two(0) + Self.two(0x21) + Self.four(checksum)
                + Self.four(content.count) + Self.four(content.count) + Self.two(name.utf8.count) + Self.two(0)
            bytes += [0x50, 0x4B, 3, 4] + common + Array(name.utf8) + content
            directory += [0x50, 0x4B, 1, 2] + Self.two(20) + common
            directory += [UInt8](repeating: 0, count: 10) + Self.four(offset) + Array(name.utf8)
        }
        let start = bytes.count
        bytes += directory + [0x50, 0x4B, 5, 6, 0, 0, 0, 0] + Self.two(files.count) + Self.two(files.count)
        bytes += Self.four(directory.count) + Self.four(start) + Self.two(0)
    }

    private static func two(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8 & 255)] }
    private static func four(_ number: Int) -> [UInt8] { two(number & 0xFFFF) + two(number >> 16 & 0xFFFF) }
}
