import CArchive
import Foundation

/// A zip archive that is read entry by entry, never unpacked.
///
/// An archive without its directory (because it was cut off) is read by its local headers, up to where they end.
final class ZipArchive {
    struct Entry {
        /// Its index among the archive's entries, from 0.
        let place: Int
        let name: String
        let isFile: Bool
        let isFolder: Bool
        let isEncrypted: Bool
    }

    let path: String
    private let archive: OpaquePointer
    /// The rest of libarchive's block, valid until the next one is requested.
    private var block = UnsafeRawBufferPointer(start: nil, count: 0)
    private var entries = 0

    /// What is wrong with the block above; this is reported after the block's bytes.
    private var warning: ArchiveDamage?

    /// - Parameter descriptor: a seekable file, which is rewound but not owned.
    init(descriptor: Int32, path: String) throws {
        guard let archive = archive_read_new() else { throw ImportError.outOfMemory }
        (self.path, self.archive) = (path, archive)
        archive_read_support_format_zip(archive)
        lseek(descriptor, 0, SEEK_SET)
        if archive_read_open_fd(archive, descriptor, 256 * 1024) != ARCHIVE_OK { throw damage }
    }

    deinit { archive_read_free(archive) }

    /// The next entry; nil at the end.
    func next() throws -> Entry? {
        warning = nil
        block = UnsafeRawBufferPointer(start: nil, count: 0)
        var header: OpaquePointer?
        let result = archive_read_next_header(archive, &header)
        if result == ARCHIVE_EOF { return nil }
        // A warning concerns a name that can't be expressed in the C locale; the entry can still be read.
        guard result == ARCHIVE_OK || result == ARCHIVE_WARN, let header else { throw damage }
        let name = archive_entry_pathname_utf8(header) ?? archive_entry_pathname(header)
        defer { entries += 1 }
        return Entry(
            place: entries,
            name: name.map { String(cString: $0) } ?? "(a name that isn't text)",
            isFile: archive_entry_filetype(header) == S_IFREG,
            isFolder: archive_entry_filetype(header) == S_IFDIR,
            isEncrypted: archive_entry_is_data_encrypted(header) != 0)
    }

    /// How many bytes of the archive's file have been read.
    var position: Int64 { archive_filter_bytes(archive, -1) }

    /// Reads one block of the entry at a time. libarchive's own read copies the data, and drops what it has when the
    /// next block is damaged.
    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard try fill() else { return 0 }
        let part = block.prefix(buffer.count)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
        block = UnsafeRawBufferPointer(rebasing: block[part.endIndex...])
        return part.count
    }

    /// Inflates the rest of the entry, so that its checksum is verified.
    func readToEnd() throws {
        while try fill() { block = UnsafeRawBufferPointer(start: nil, count: 0) }
    }

    /// Makes sure that there are bytes in the block; returns false at the entry's end.
    private func fill() throws -> Bool {
        while block.isEmpty {
            if let warning {
                self.warning = nil
                throw warning
            }
            var start: UnsafeRawPointer?
            var count = 0
            var offset: Int64 = 0
            let result = archive_read_data_block(archive, &start, &count, &offset)
            if result == ARCHIVE_EOF { return false }
            if result == ARCHIVE_RETRY { continue }
            guard result == ARCHIVE_OK || result == ARCHIVE_WARN else { throw damage }
            // A warning comes with the last block: its checksum or size differs from the directory's.
            if result == ARCHIVE_WARN { warning = damage }
            block = UnsafeRawBufferPointer(start: start, count: count)
        }
        return true
    }

    private var damage: ArchiveDamage {
        ArchiveDamage(archive_error_string(archive).map { String(cString: $0) } ?? "no reason given")
    }
}

/// libarchive's explanation of why it can't continue reading an archive.
struct ArchiveDamage: Error {
    /// Put on one line, since some of libarchive's messages end with a line break.
    let reason: String

    init(_ reason: String) { self.reason = reason.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

    /// Whether the file ended in the middle of what was being read, judging by libarchive's message; zlib's −5 means
    /// that there is nothing more to inflate.
    var isEndOfInput: Bool { reason.hasPrefix("Truncated") || reason == "ZIP decompression failed (-5)" }
}

/// The content of an archive's current entry.
final class EntrySource: ByteSource {
    private let archive: ZipArchive

    init(_ archive: ZipArchive) { self.archive = archive }

    var position: Int64 { archive.position }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int { try archive.read(into: buffer) }
}
