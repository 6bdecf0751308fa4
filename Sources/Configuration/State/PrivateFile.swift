import Foundation
import Glibc
import Logging

/// A file with personal data that a person asked for: for its owner alone (0600), and whole or not there at all.
package enum PrivateFile {
    /// Replaces a file that has that name.
    /// - Throws: `Failure` when it can't be written.
    package static func write(_ text: String, to path: String) throws(Failure) {
        let draft = path + ".\(UUID().uuidString)"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw cannotWrite(path) }
        let isWritten = write(Array(text.utf8), to: descriptor)
        guard close(descriptor) == 0, isWritten, rename(draft, path) == 0 else {
            let failure = cannotWrite(path)
            unlink(draft)
            throw failure
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            written += count
        }
        return true
    }

    private static func cannotWrite(_ path: String) -> Failure {
        Failure(
            "can't write '\(path)': \(String(cString: strerror(errno)))", hint: "check the folder and its permissions")
    }
}
