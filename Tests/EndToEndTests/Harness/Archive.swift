import CArchive
import Foundation

/// Zip archives, read and written only with libarchive.
enum Archive {
    typealias Entry = (name: String, content: [UInt8])

    /// The content of the first entry whose name ends with this suffix.
    static func entry(_ suffix: String, of path: String) throws -> [UInt8] {
        guard let entry = try entries(of: path, where: { $0.hasSuffix(suffix) }).first else {
            throw HarnessError("\(path) has no \(suffix)")
        }
        return entry.content
    }

    /// All entries that are wanted, in the order of the archive.
    static func entries(of path: String, where isWanted: (String) -> Bool = { _ in true }) throws -> [Entry] {
        let archive = archive_read_new()
        defer { archive_read_free(archive) }
        archive_read_support_format_zip(archive)
        guard archive_read_open_filename(archive, path, 1 << 16) == ARCHIVE_OK else {
            throw HarnessError("can't read \(path)")
        }
        var entries: [Entry] = []
        var entry: OpaquePointer?
        while archive_read_next_header(archive, &entry) == ARCHIVE_OK, let entry {
            guard let name = archive_entry_pathname(entry).map({ String(cString: $0) }), isWanted(name) else {
                continue
            }
            var content: [UInt8] = []
            var block = [UInt8](repeating: 0, count: 1 << 16)
            var count = archive_read_data(archive, &block, block.count)
            while count > 0 {
                content += block[..<count]
                count = archive_read_data(archive, &block, block.count)
            }
            guard count == 0 else { throw HarnessError("can't read \(name) of \(path)") }
            entries.append((name, content))
        }
        return entries
    }

    static func write(_ entries: [String: String], to path: String) throws {
        try write(entries.sorted { $0.key < $1.key }.map { ($0.key, Array($0.value.utf8)) }, to: path)
    }

    static func write(_ entries: [Entry], to path: String) throws {
        let archive = archive_write_new()
        defer { archive_write_free(archive) }
        archive_write_set_format_zip(archive)
        guard archive_write_open_filename(archive, path) == ARCHIVE_OK else {
            throw HarnessError("can't write \(path)")
        }
        for (name, bytes) in entries {
            let entry = archive_entry_new()
            defer { archive_entry_free(entry) }
            archive_entry_set_pathname(entry, name)
            archive_entry_set_size(entry, Int64(bytes.count))
            archive_entry_set_filetype(entry, S_IFREG)
            archive_entry_set_perm(entry, 0o644)
            guard archive_write_header(archive, entry) == ARCHIVE_OK,
                archive_write_data(archive, bytes, bytes.count) == bytes.count
            else { throw HarnessError("can't write \(name)") }
        }
        guard archive_write_close(archive) == ARCHIVE_OK else { throw HarnessError("can't write \(path)") }
    }
}
