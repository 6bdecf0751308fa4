import CArchive
import Foundation

/// Zip archives, read and written by libarchive alone.
enum Archive {
    /// The content of the first entry whose name ends so.
    static func entry(_ suffix: String, of path: String) throws -> [UInt8] {
        let archive = archive_read_new()
        defer { archive_read_free(archive) }
        archive_read_support_format_zip(archive)
        guard archive_read_open_filename(archive, path, 1 << 16) == ARCHIVE_OK else {
            throw HarnessError("can't read \(path)")
        }
        var entry: OpaquePointer?
        while archive_read_next_header(archive, &entry) == ARCHIVE_OK, let entry {
            guard archive_entry_pathname(entry).map({ String(cString: $0) })?.hasSuffix(suffix) == true else {
                continue
            }
            var content: [UInt8] = []
            var block = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = archive_read_data(archive, &block, block.count)
                guard count >= 0 else { throw HarnessError("can't read \(suffix) of \(path)") }
                if count == 0 { return content }
                content += block[..<count]
            }
        }
        throw HarnessError("\(path) has no \(suffix)")
    }

    static func write(_ entries: [String: String], to path: String) throws {
        let archive = archive_write_new()
        defer { archive_write_free(archive) }
        archive_write_set_format_zip(archive)
        guard archive_write_open_filename(archive, path) == ARCHIVE_OK else {
            throw HarnessError("can't write \(path)")
        }
        for (name, text) in entries.sorted(by: { $0.key < $1.key }) {
            let entry = archive_entry_new()
            defer { archive_entry_free(entry) }
            archive_entry_set_pathname(entry, name)
            archive_entry_set_size(entry, Int64(text.utf8.count))
            archive_entry_set_filetype(entry, S_IFREG)
            archive_entry_set_perm(entry, 0o644)
            let bytes = Array(text.utf8)
            guard archive_write_header(archive, entry) == ARCHIVE_OK,
                archive_write_data(archive, bytes, bytes.count) == bytes.count
            else { throw HarnessError("can't write \(name)") }
        }
        guard archive_write_close(archive) == ARCHIVE_OK else { throw HarnessError("can't write \(path)") }
    }
}
