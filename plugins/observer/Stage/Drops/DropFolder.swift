import Configuration
import Foundation
import Glibc
import HealthImport
import HealthModel
import Protocol

/// Lists the inbox folder's files, and moves them out. Follows no symbolic links in it.
package struct DropFolder: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    static let done = "done"
    static let failed = "failed"

    /// Why it can't be used; creates the folders in it if they are missing.
    package func problem() -> String? {
        if let problem = InboxFolder.problem(path) { return problem }
        for name in [Self.done, Self.failed] {
            let inner = path + "/" + name
            guard mkdir(inner, rights(0o777)) == 0 || errno == EEXIST else {
                return "'\(inner)' can't be made (\(Self.reason)); check the permissions of the folder above it"
            }
            guard Self.status(of: inner).map({ $0.st_mode & S_IFMT == S_IFDIR }) == true,
                access(inner, W_OK | X_OK) == 0
            else { return "'\(inner)' isn't a folder that this account may write to; move it away" }
        }
        return nil
    }

    /// Regular files that this account can read.
    package func files() -> [String: FileIdentity] {
        var files: [String: FileIdentity] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
            let file = path + "/" + name
            guard let status = Self.status(of: file), status.st_mode & S_IFMT == S_IFREG, access(file, R_OK) == 0
            else { continue }
            files[name] = FileIdentity(status)
        }
        return files
    }

    /// What the beginning and end of a file reveal about it; nil when a different file now has its name.
    package func end(of name: String, _ file: FileIdentity) -> ExportEnd? {
        opened(name, file) { ExportEnd(descriptor: $0, size: file.size) }
    }

    /// Reads the whole file; nil when a different file now has its name, or when the file changes in the meantime.
    package func dropped(_ name: String, _ file: FileIdentity) -> DroppedFile? {
        opened(name, file) { descriptor in
            let hash = ContentHash()
            let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
            defer { block.deallocate() }
            while true {
                let count = read(descriptor, block.baseAddress, block.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return nil }
                if count == 0 { break }
                hash.add(UnsafeRawBufferPointer(rebasing: block[..<count]))
            }
            var status = stat()
            guard fstat(descriptor, &status) == 0, FileIdentity(status) == file else { return nil }
            return DroppedFile(name: name, path: path + "/" + name, file: file, hash: hash.value)
        }
    }

    private func opened<Result>(_ name: String, _ file: FileIdentity, _ body: (Int32) -> Result?) -> Result? {
        let descriptor = open(path + "/" + name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, FileIdentity(status) == file else { return nil }
        return body(descriptor)
    }

    /// Moves a file, and writes its report beside it. The report is written first: if the process ends in between, the
    /// next one finds the file again, and continues.
    package func settle(_ settlement: DropSettlement) -> DropEvent {
        let source = path + "/" + settlement.name
        let folder = path + "/" + (settlement.isDone ? Self.done : Self.failed)
        for number in 1...10_000 {
            guard let status = Self.status(of: source), FileIdentity(status) == settlement.file else {
                return .settled(name: settlement.name)
            }
            let target = folder + "/" + Self.name(settlement.name, number)
            let report = target + ".report.json"
            if let there = Self.status(of: target) {
                guard there.st_ino == status.st_ino, there.st_dev == status.st_dev else { continue }
                // The process that moved it was killed before the old name was gone.
                return unlink(source) == 0
                    ? .settled(name: settlement.name) : .unsettled(name: settlement.name, reason: Self.reason)
            }
            if Self.status(of: report) != nil {
                guard FileManager.default.contents(atPath: report).map({ [UInt8]($0) }) == settlement.report else {
                    continue
                }
            } else if let reason = write(settlement.report, report) {
                return .unsettled(name: settlement.name, reason: reason)
            }
            if Self.move(source, target) { return .settled(name: settlement.name) }
            guard errno == EEXIST else { return .unsettled(name: settlement.name, reason: Self.reason) }
        }
        return .unsettled(name: settlement.name, reason: "there are too many files with its name; remove some")
    }

    /// The name that a file gets in its new folder; the second file of that name, and later ones, get a number.
    static func name(_ name: String, _ number: Int) -> String {
        let url = URL(fileURLWithPath: "/" + name)
        let ending = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
        var stem = ending.isEmpty ? name : String(name.dropLast(ending.count))
        // Leaves room for the report's name, within the system's 255 bytes.
        while stem.utf8.count + ending.utf8.count > 200, !stem.isEmpty { stem.removeFirst() }
        return stem + (number > 1 ? " \(number)" : "") + ending
    }

    /// - Returns: the reason why it can't be written; nil when it was written.
    private func write(_ bytes: [UInt8], _ report: String) -> String? {
        let draft = path + "/.report-\(getpid()).part"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, rights(0o666))
        guard descriptor >= 0 else { return Self.reason }
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return abandon(draft) }
            written += count
        }
        guard fsync(descriptor) == 0, Self.move(draft, report) else { return abandon(draft) }
        return nil
    }

    private func abandon(_ draft: String) -> String {
        let reason = Self.reason
        unlink(draft)
        return reason
    }

    /// Files in the folder grant others the same permissions as the folder itself, less the umask.
    private func rights(_ all: mode_t) -> mode_t {
        (Self.status(of: path).map { $0.st_mode & 0o777 } ?? 0o700) & all | 0o600
    }

    /// Never replaces a file. If the file system can't guarantee that, this checks beforehand.
    private static func move(_ source: String, _ target: String) -> Bool {
        if link(source, target) == 0 { return unlink(source) == 0 }
        guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK, EINVAL].contains(errno) else { return false }
        if status(of: target) != nil {
            errno = EEXIST
            return false
        }
        return rename(source, target) == 0
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
