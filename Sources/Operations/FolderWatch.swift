import Console
import Foundation
import Glibc
import PluginKit

/// Whether what a running stack writes to is still where its next start would look for it.
struct FolderWatch {
    /// A file or folder, whatever its name.
    private struct Identity: Equatable {
        var device: dev_t
        var number: ino_t

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, number) = (status.st_dev, status.st_ino)
        }
    }

    /// In the order in which they are looked at: what holds the others first.
    private let folders: [String]
    private let databases: [String]
    private var seen: [String: Identity] = [:]

    init(_ state: StateFolder, instances: [String]) {
        folders = [state.path, state.instance("supervisor")] + instances.map { state.instance($0) }
        databases = instances.map { state.database($0) }
        for path in folders + databases { seen[path] = Identity(path) }
    }

    /// What is gone, or is another than it was; nil when all is there. A database that is made meanwhile is looked after from then on.
    mutating func problem() -> Failure? {
        for path in folders + databases {
            let now = Identity(path)
            guard let before = seen[path] else {
                seen[path] = now
                continue
            }
            guard now != before else { continue }
            return Failure(
                "\(path) was \(now == nil ? "removed" : "replaced by another") while the stack ran; the stack has stopped, "
                    + "because what it took in from then on would be lost",
                hint: "put it back, or restore a backup with 'healthbus restore BACKUP'; "
                    + "where it was meant, start anew with 'healthbus up' and import your export again")
        }
        return nil
    }
}
