import Glibc

/// Whether a database's file can be complete, judging by its header, its size and its log. Only header and log are
/// read, so the cost doesn't depend on the size.
///
/// Damage inside pages isn't found this way: SQLite reports it when it reads the pages. A full check reads the whole
/// file.
enum DatabaseFile {
    /// What is wrong with a file; nil if nothing is, or if the file is missing, empty or can't be opened.
    static func problem(at path: String) -> String? {
        guard let file = Bytes(path), file.size > 0 else { return nil }
        guard let header = file.read(at: 0, count: 100) else {
            return "it is cut off: only \(file.size) bytes of it are there"
        }
        guard header.starts(with: Array("SQLite format 3\0".utf8)) else { return "it isn't an SQLite database" }
        let written = Int(header.number(at: 16, bytes: 2))
        let pageSize = written == 1 ? 65536 : written
        guard pageSize >= 512, pageSize & (pageSize - 1) == 0 else { return "its header is damaged" }
        var pages = Int(header.number(at: 28, bytes: 4))
        // An old writer doesn't maintain the page count in the header, so only the size is known.
        if header[24..<28] != header[92..<96] { pages = 0 }
        let there = file.size / pageSize
        let log = WriteAheadLog(path + "-wal", pageSize: pageSize)
        pages = log.pages ?? pages
        guard pages > there else { return nil }
        // SQLite never uses the page that holds its locks.
        let lockPage = 0x4000_0000 / pageSize + 1
        let missing = (there + 1...pages).count { $0 != lockPage && !log.holds.contains($0) }
        guard missing > 0 else { return nil }
        return "it is cut off: \(missing) of its \(pages) pages are missing"
    }
}

extension Database {
    /// Why a file can't be opened for writing, judging by its header, its size and its log; nil if nothing is wrong
    /// with it, or if it is missing, empty or can't be read.
    ///
    /// It doesn't use SQLite, and changes nothing. Use it only on a file that nobody is writing to; a file being
    /// written may look cut off.
    package static func problem(at path: String) -> String? { DatabaseFile.problem(at: path) }
}

/// The committed pages in a write-ahead log: what a recovery would restore from it. The format is described at
/// https://www.sqlite.org/fileformat2.html#walformat.
private struct WriteAheadLog {
    private(set) var holds: Set<Int> = []
    /// How many pages the database has after the last commit in the log; nil when there is none.
    private(set) var pages: Int?

    init(_ path: String, pageSize: Int) {
        guard let file = Bytes(path), let header = file.read(at: 0, count: 32),
            header.number(at: 0, bytes: 4) & ~1 == 0x377f_0682, header.number(at: 8, bytes: 4) == pageSize
        else { return }
        let isBigEndian = header.number(at: 0, bytes: 4) & 1 == 1
        var sum: (UInt32, UInt32) = (0, 0)
        func add(_ bytes: ArraySlice<UInt8>) {
            var at = bytes.startIndex
            while at < bytes.endIndex {
                sum.0 = sum.0 &+ bytes.word(at: at, isBigEndian) &+ sum.1
                sum.1 = sum.1 &+ bytes.word(at: at + 4, isBigEndian) &+ sum.0
                at += 8
            }
        }
        func agrees(_ bytes: [UInt8], at offset: Int) -> Bool {
            sum.0 == UInt32(bytes.number(at: offset, bytes: 4))
                && sum.1 == UInt32(bytes.number(at: offset + 4, bytes: 4))
        }
        add(header[..<24])
        guard agrees(header, at: 24) else { return }
        var uncommitted: Set<Int> = []
        var offset = 32
        while let frame = file.read(at: offset, count: 24 + pageSize), frame[8..<16] == header[16..<24] {
            add(frame[..<8])
            add(frame[24...])
            guard agrees(frame, at: 16) else { return }
            uncommitted.insert(Int(frame.number(at: 0, bytes: 4)))
            let committed = Int(frame.number(at: 4, bytes: 4))
            if committed > 0 {
                pages = committed
                holds.formUnion(uncommitted)
                uncommitted = []
            }
            offset += 24 + pageSize
        }
    }
}

/// A file of which only some parts are read.
private final class Bytes {
    private let descriptor: Int32
    let size: Int

    init?(_ path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            close(descriptor)
            return nil
        }
        size = Int(status.st_size)
    }

    deinit { close(descriptor) }

    /// nil when there aren't that many bytes.
    func read(at offset: Int, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return pread(descriptor, &bytes, count, off_t(offset)) == count ? bytes : nil
    }
}

extension [UInt8] {
    /// Reads a number: big-endian, as all numbers in the format are.
    fileprivate func number(at offset: Int, bytes count: Int) -> UInt64 {
        self[offset..<offset + count].reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension ArraySlice<UInt8> {
    fileprivate func word(at offset: Int, _ isBigEndian: Bool) -> UInt32 {
        let word =
            UInt32(self[offset]) | UInt32(self[offset + 1]) << 8 | UInt32(self[offset + 2]) << 16
            | UInt32(self[offset + 3]) << 24
        return isBigEndian ? word.byteSwapped : word
    }
}
