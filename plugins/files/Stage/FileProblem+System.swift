import Foundation
import Glibc

extension FileProblem {
    /// - Parameters:
    ///   - code: an `errno` value.
    ///   - folder: the folder for the files.
    package init(_ code: Int32, in folder: String) {
        switch code {
        case ENOSPC, EDQUOT: self.init("the disk of \(folder) is full; free some space, and it continues automatically")
        case EACCES, EPERM:
            self.init(
                "\(folder) can't be written; give the user who runs the stack write access, for example with chown")
        case EROFS: self.init("\(folder) is on a read-only file system; mount it for writing")
        case ENOENT, ENOTDIR: self = .missing(folder)
        default: self.init("\(folder) can't be written: \(String(cString: strerror(code)))")
        }
    }

    /// - Parameter file: the file that can't be written, relative to the folder.
    package init(_ code: Int32, at file: String, in folder: String) {
        guard [EISDIR, ENOTDIR, EEXIST, ENOTEMPTY, ELOOP].contains(code) else {
            self.init(code, in: folder)
            return
        }
        self.init(
            "\(folder)/\(file) can't be written, because a folder, or a file in place of one of its folders, has its name; move that away"
        )
        isOfOneFile = true
    }

    package static func missing(_ folder: String) -> FileProblem {
        FileProblem(
            "\(folder) is gone; mount its disk, or have everything written again: mkdir -m 700 '\(folder)'")
    }

    package static func taken(_ folder: String) -> FileProblem {
        FileProblem("another process writes to \(folder); give each instance a folder of its own")
    }
}
