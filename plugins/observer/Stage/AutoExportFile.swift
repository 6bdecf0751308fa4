import Glibc
import HealthImport
import HealthModel
import HealthPush

/// A file that Health Auto Export has written (`HealthAutoExport-….json`): it is read by the same rules as what the app
/// pushes.
///
/// Its text is scanned in place, from a mapping of the file, and its records are delivered in pieces. So memory holds
/// one piece, and as much of the file as the system likes to keep.
struct AutoExportFile {
    /// A longer file isn't mapped.
    static let limit: Int64 = 1 << 30

    /// The path that the user knows, for messages.
    private let path: String
    private let file: String

    /// Nil for any other file.
    /// - Parameter file: the path of the bytes.
    init?(path: String, file: String) {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard ExportEnd.kind(descriptor: descriptor) == .autoExport else { return nil }
        (self.path, self.file) = (path, file)
    }

    func read(into receiver: @escaping ExportReceiver) throws -> ReadSummary {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ImportError.system(errno, path: path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw ImportError.system(errno, path: path) }
        let size = Int64(status.st_size)
        guard size <= Self.limit else { throw ImportError.largeAutoExport(path: path, limit: Self.limit) }
        // A file with another name besides may be cut by its owner at any time, which would end the process that reads
        // its mapping: then a copy is mapped.
        let own = status.st_nlink > 1 ? try copy(descriptor) : dup(descriptor)
        guard own >= 0 else { throw ImportError.system(errno, path: path) }
        defer { close(own) }
        guard let bytes = mmap(nil, Int(size), PROT_READ, MAP_PRIVATE, own, 0), bytes != MAP_FAILED else {
            throw ImportError.system(errno, path: path)
        }
        defer { munmap(bytes, Int(size)) }
        var info = ExportInfo(date: nil, locale: "")
        info.way = WayIn.healthAutoExport.path
        try receiver(.info(info))
        var summary = ReadSummary()
        let written = Instant(seconds: Int64(status.st_mtim.tv_sec))
        do {
            try HealthAutoExport.read(file: UnsafeRawBufferPointer(start: bytes, count: Int(size)), written: written) {
                piece in
                if piece.records.count > 0 { try receiver(.records(piece.records)) }
                if !piece.quarantined.isEmpty { try receiver(.quarantined(piece.quarantined)) }
                let workouts = piece.records.types.firstIndex(of: HealthType.workoutIdentifier)
                summary.workouts += piece.records.type.count { Int($0) == workouts }
                summary.records += piece.records.count
                summary.quarantined += piece.quarantined.count
                summary.statistics = piece.taken
            }
        } catch let error as PushError {
            throw ImportError.malformedAutoExport(path: path, reason: error.description)
        }
        try receiver(.progress(bytesRead: size, bytesTotal: size))
        summary.records -= summary.workouts
        return summary
    }

    /// A copy without a name, which is gone when it is closed.
    private func copy(_ descriptor: Int32) throws -> Int32 {
        let draft = file + ".read"
        unlink(draft)
        let copy = open(draft, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard copy >= 0 else { throw ImportError.system(errno, path: path) }
        unlink(draft)
        while true {
            let count = sendfile(copy, descriptor, nil, 1 << 20)
            if count == 0 { return copy }
            guard count > 0 || errno == EINTR else {
                let code = errno
                close(copy)
                throw ImportError.system(code, path: path)
            }
        }
    }
}
