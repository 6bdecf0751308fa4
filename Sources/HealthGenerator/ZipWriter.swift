import CArchive
import Foundation

/// Why an export can't be written.
package enum GeneratorError: Error, Equatable, CustomStringConvertible {
    case invalidOption(String, hint: String)
    case unwritable(path: String, reason: String)

    package var description: String {
        switch self {
        case .invalidOption(let what, let hint): "\(what); \(hint)"
        case .unwritable(let path, let reason):
            "can't write '\(path)': \(reason); check the folder, its permissions and the disk"
        }
    }
}

/// Writes a zip archive as a stream. Its entries have no timestamps, so that equal content gives equal bytes in every
/// time zone.
final class ZipWriter {
    /// libarchive's AE_IFREG, a macro that Swift doesn't see.
    private let regularFile: UInt32 = 0o100000
    private let archive: OpaquePointer
    private let path: String

    init(path: String) throws {
        guard let archive = archive_write_new() else {
            throw GeneratorError.unwritable(path: path, reason: "not enough memory")
        }
        (self.archive, self.path) = (archive, path)
        // The fastest compression level, since an export is usually read soon after it is written.
        guard archive_write_set_format_zip(archive) == ARCHIVE_OK,
            archive_write_set_options(archive, "zip:compression-level=1") == ARCHIVE_OK,
            archive_write_open_filename(archive, path) == ARCHIVE_OK
        else { throw failure }
    }

    deinit { archive_write_free(archive) }

    func begin(_ name: String) throws {
        guard let entry = archive_entry_new() else { throw failure }
        defer { archive_entry_free(entry) }
        archive_entry_set_pathname_utf8(entry, name)
        archive_entry_set_filetype(entry, regularFile)
        archive_entry_set_perm(entry, 0o644)
        guard archive_write_header(archive, entry) == ARCHIVE_OK else { throw failure }
    }

    func write(_ bytes: [UInt8]) throws {
        let written = bytes.withUnsafeBytes { archive_write_data(archive, $0.baseAddress, $0.count) }
        guard written == bytes.count else { throw failure }
    }

    func close() throws {
        guard archive_write_close(archive) == ARCHIVE_OK else { throw failure }
    }

    private var failure: GeneratorError {
        .unwritable(path: path, reason: archive_error_string(archive).map { String(cString: $0) } ?? "no reason given")
    }
}
