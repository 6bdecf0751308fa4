import Glibc

/// Whether a file that may still be growing is complete, judged by its first and last bytes.
package enum ExportEnd: Sendable, Equatable {
    /// An archive with its directory, an XML export with its closing tag, or a JSON export with its closing brace.
    case whole
    /// The beginning of such a file, or no bytes yet.
    case open
    /// Neither.
    case foreign

    /// What a file is, by its first bytes.
    package static func kind(descriptor: Int32) -> ContentKind {
        ContentKind(head: bytes(descriptor, at: 0, ContentKind.sniffLength))
    }

    /// - Parameters:
    ///   - descriptor: a regular file, open for reading; its position is neither used nor changed.
    ///   - size: its size in bytes.
    package init(descriptor: Int32, size: Int64) {
        switch Self.kind(descriptor: descriptor) {
        case .empty: self = .open
        case .zip: self = Self.hasDirectory(descriptor, size: size) ? .whole : .open
        case .healthData:
            let tail = Self.bytes(descriptor, at: max(0, size - 4096), 4096)
            self = ContentKind.contains("</HealthData>", in: tail) ? .whole : .open
        case .autoExport:
            let tail = Self.bytes(descriptor, at: max(0, size - 64), Int(min(size, 64)))
            self = tail.last { $0 > 0x20 } == UInt8(ascii: "}") ? .whole : .open
        case .clinicalDocument, .gpx, .compressedAutoExport, .json, .table, .packed, .other: self = .foreign
        }
    }

    /// The position of an archive's final part, which an unfinished copy lacks. A comment of up to 64 KiB may follow
    /// it.
    static func directoryEnd(_ descriptor: Int32, size: Int64) -> Int64? {
        let length = Int(min(size, 22 + 65_535))
        let tail = bytes(descriptor, at: size - Int64(length), length)
        guard tail.count >= 22 else { return nil }
        let place = (0...tail.count - 22).last { tail[$0...].starts(with: [0x50, 0x4B, 5, 6]) }
        return place.map { size - Int64(length) + Int64($0) }
    }

    /// Whether the archive's directory is there too: a file with preallocated space may have an end with nothing before
    /// it.
    private static func hasDirectory(_ descriptor: Int32, size: Int64) -> Bool {
        guard let end = directoryEnd(descriptor, size: size) else { return false }
        let record = bytes(descriptor, at: end, 22)
        guard record.count == 22 else { return false }
        func number(_ range: Range<Int>) -> Int64 { range.reversed().reduce(0) { $0 << 8 | Int64(record[$1]) } }
        let (entries, offset) = (number(10..<12), number(16..<20))
        // In an archive beyond 4 GB the directory's position is stored elsewhere.
        guard entries > 0, offset != 0xFFFF_FFFF else { return true }
        return bytes(descriptor, at: offset, 4) == [0x50, 0x4B, 1, 2]
    }

    private static func bytes(_ descriptor: Int32, at offset: Int64, _ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = 0
            while filled < count {
                let read = pread(
                    descriptor, buffer.baseAddress.map { $0 + filled }, count - filled, off_t(offset) + off_t(filled))
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { return }
                filled += read
            }
        }
    }
}
