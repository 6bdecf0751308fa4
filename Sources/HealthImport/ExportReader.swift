import Foundation
import HealthModel

/// Reads an Apple Health export, either an `export.zip` or a bare XML file. It is recognized by its content, never by
/// its name.
///
/// Nothing is unpacked to disk, and memory use stays flat at any size: the parser reads blocks of 256 KiB and produces
/// batches.
package struct ExportReader: Sendable {
    /// The path that the user knows, for messages.
    package let path: String
    /// The path at which its bytes are stored.
    private let file: String

    /// - Parameter file: the path of the bytes, if the file was stored under another name; otherwise they are at
    ///   `path`.
    package init(path: String, file: String? = nil) {
        self.path = path
        self.file = file ?? path
    }

    /// Reads everything into the receiver, on the calling thread (while a second one reads ahead).
    ///
    /// - Parameter known: pieces, routes and documents that needn't be read, with the number of records or route points
    ///   in each.
    /// - Throws: `ImportError` for anything that isn't a readable export, and any error of the receiver. Damage further
    ///   inside an export isn't thrown: everything intact is delivered, and the summary says where the damage is.
    package func read(into receiver: @escaping ExportReceiver, known: [PieceHash: Int] = [:]) throws -> ReadSummary {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ImportError.system(errno, path: path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw ImportError.system(errno, path: path) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw ImportError.isDirectory(path: path) }
        let source = PeekedSource(FileSource(descriptor: descriptor, path: path))
        if let failure = source.failure { throw failure }
        let total = Int64(status.st_size)
        if let encoding = TextEncoding.ofForeignExport(source.head) {
            throw ImportError.foreignEncoding(path: path, entry: nil, encoding: encoding)
        }
        switch ContentKind(head: source.head) {
        case .empty: throw ImportError.emptyFile(path: path)
        case .clinicalDocument: throw ImportError.clinicalDocument(path: path)
        // Health Auto Export's files have a reader of their own.
        case .gpx, .compressedAutoExport, .autoExport, .json, .table, .packed, .other:
            throw ImportError.notAnExport(path: path, kind: ContentKind(head: source.head))
        case .healthData:
            let parsing = ExportParsing(receiver: receiver, known: known)
            let name = URL(fileURLWithPath: path).lastPathComponent
            try parsing.parse(source, entry: name, total: total)
            return parsing.summary
        case .zip:
            return try ArchiveReader(descriptor: descriptor, path: path, total: total, receiver: receiver, known: known)
                .read()
        }
    }
}
