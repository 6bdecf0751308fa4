import Foundation
import Glibc
import Logging
import Terminal

/// Free space on the disk that holds a folder.
package enum DiskSpace {
    /// How many bytes this account may still write there, or in the nearest existing parent if the folder doesn't exist
    /// yet. nil if the system doesn't report it.
    package static func free(at path: String) -> Int64? {
        var place = URL(fileURLWithPath: path)
        while place.path != "/", !FileManager.default.fileExists(atPath: place.path) { place.deleteLastPathComponent() }
        var status = statvfs()
        guard statvfs(place.path, &status) == 0 else { return nil }
        return Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    package static func severity(free: Int64) -> Finding.Severity? {
        switch free {
        case ..<100_000_000: .error
        case ..<1_000_000_000: .warning
        default: nil
        }
    }

    /// Whether processes can't be expected to commit anything: a log may need this much before it is copied into its
    /// file.
    package static func isFull(free: Int64) -> Bool { free < 4 << 20 }

    /// What a command says first if the disk is full, since that is behind whatever else it has to report.
    package static func notice(about path: String, free: Int64?) -> Failure? {
        guard let free, isFull(free: free) else { return nil }
        return Failure(
            "the disk that holds \(path) is full: \(HumanFormat.bytes(Int(free))) left, too little to write, so nothing new is stored",
            hint: remedy)
    }

    static let remedy = "free some space on it: everything then continues automatically, and nothing committed is lost"
}
