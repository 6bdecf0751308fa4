import Foundation
import Glibc
import HealthModel

/// The folder from which the observer imports files automatically, according to the configuration and the environment.
package enum InboxFolder {
    package static let variable = "HEALTHBUS_INBOX"

    /// `HEALTHBUS_INBOX` takes precedence over the configuration; nil if neither names a folder.
    package static func path(of observer: StackConfiguration.Instance?, environment: [String: String]) -> String? {
        environment.filled(variable)
            ?? observer?.configuration["inbox"].string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Why files can't be taken from the folder, and what to do; nil when they can.
    package static func problem(_ path: String) -> String? {
        guard path.hasPrefix("/") else { return "'\(path)' isn't absolute; write it from the root" }
        var status = stat()
        guard stat(path, &status) == 0 else {
            return errno == ENOENT
                ? "'\(path)' isn't there; make it, or mount it"
                : "'\(path)' can't be examined (\(String(cString: strerror(errno)))); check its permissions"
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return "'\(path)' isn't a folder; name a folder" }
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            return "'\(path)' can't be written to by this account; files are moved out of it, so allow that"
        }
        return nil
    }
}
