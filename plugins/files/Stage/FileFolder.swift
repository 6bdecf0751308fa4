import Digest
import Foundation
import Glibc

/// The folder with the files: held exclusively by this process, through a lock.
final class FileFolder {
    let path: String
    private var descriptor: Int32 = -1

    init(path: String) { self.path = path }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Opens the folder, unless it is open and still in its place.
    /// - Parameter makes: whether to create it if it is missing.
    /// - Throws: `FileProblem`.
    func open(making makes: Bool) throws(FileProblem) {
        if descriptor >= 0 {
            var (own, there) = (stat(), stat())
            if fstat(descriptor, &own) == 0, stat(path, &there) == 0, own.st_ino == there.st_ino,
                own.st_dev == there.st_dev
            {
                return
            }
            close(descriptor)
            descriptor = -1
        }
        if makes { try make(path) }
        descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileProblem(errno, in: path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            descriptor = -1
            throw .taken(path)
        }
    }

    private func make(_ folder: String) throws(FileProblem) {
        guard mkdir(folder, 0o700) != 0, errno != EEXIST else { return }
        let parent = Self.parent(of: folder)
        guard errno == ENOENT, parent != folder else { throw FileProblem(errno, in: path) }
        try make(parent)
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw FileProblem(errno, in: path) }
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Creates the folders around a file.
    func makeFolders(of file: String) throws(FileProblem) {
        var parts = file.split(separator: "/").dropLast().map(String.init)
        var made: [String] = []
        var folder = parts.isEmpty ? path : path + "/" + parts.joined(separator: "/")
        while !parts.isEmpty {
            if mkdir(folder, 0o700) == 0 {
                try sync(Self.parent(of: folder))
                break
            }
            if errno == EEXIST { break }
            guard errno == ENOENT else { throw FileProblem(errno, at: file, in: path) }
            made.append(folder)
            parts.removeLast()
            folder = parts.isEmpty ? path : path + "/" + parts.joined(separator: "/")
        }
        for folder in made.reversed() {
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw FileProblem(errno, at: file, in: path) }
            try sync(Self.parent(of: folder))
        }
    }

    /// Makes a folder's entries durable.
    private func sync(_ folder: String) throws(FileProblem) {
        let handle = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else { throw FileProblem(errno, in: path) }
        defer { close(handle) }
        guard fsync(handle) == 0 else { throw FileProblem(errno, in: path) }
    }

    /// Gives a finished file its name, replacing any file with that name.
    func place(_ temporary: String, as file: String) throws(FileProblem) {
        let target = path + "/" + file
        guard rename(temporary, target) == 0 else { throw FileProblem(errno, at: file, in: path) }
        try sync(Self.parent(of: target))
    }

    /// Removes a file, and the folders that this leaves empty.
    func remove(_ file: String) throws(FileProblem) {
        var target = path + "/" + file
        if unlink(target) == 0 {
            try sync(Self.parent(of: target))
        } else if ![ENOENT, EISDIR, ENOTDIR].contains(errno) {
            // A folder with the name of a file isn't ours.
            throw FileProblem(errno, in: path)
        }
        target = Self.parent(of: target)
        while target.utf8.count > path.utf8.count, rmdir(target) == 0 { target = Self.parent(of: target) }
    }

    func has(_ file: String) -> Bool {
        var status = stat()
        // A folder with the name of a file isn't ours.
        return lstat(path + "/" + file, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
    }

    /// Whether a file is still as it was when written.
    func holds(_ entry: FileLedger.Entry, readsAll: Bool) -> Bool {
        var status = stat()
        guard lstat(path + "/" + entry.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            Int64(status.st_size) == entry.bytes
        else { return false }
        return !readsAll || sum(of: entry.path) == entry.sum
    }

    private func sum(of file: String) -> String? {
        let handle = Glibc.open(path + "/" + file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard handle >= 0 else { return nil }
        defer { close(handle) }
        var sum = SHA256()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = read(handle, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return sum.hexadecimal }
            sum.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }
}
