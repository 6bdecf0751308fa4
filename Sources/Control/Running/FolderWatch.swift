import Configuration
import Foundation
import Glibc
import Logging

/// Watches whether the files that a running stack writes to are still where its next start would look for them.
struct FolderWatch {
    /// Identifies a file or folder independently of its name.
    private struct Identity: Equatable {
        var device: dev_t
        var number: ino_t

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, number) = (status.st_dev, status.st_ino)
        }
    }

    /// In the order in which they are checked: containing folders first.
    private let folders: [String]
    /// The databases by instance; instances that keep nothing have none. A backend may keep its elements somewhere
    /// other than in a file, so its file is checked only once it has been seen.
    private let databases: [(instance: String, path: String, isCertain: Bool)]
    private var seen: [String: Identity] = [:]

    init(_ state: StateFolder, _ stack: StackConfiguration) {
        let instances = stack.instances.map(\.name)
        folders = [state.path, state.instance("supervisor")] + instances.map { state.instance($0) }
        databases = stack.instances.filter { $0.manifest.kind.isStage || $0.manifest.kind == .backend }
            .map { ($0.name, state.database($0.name), $0.manifest.kind != .backend) }
        for path in folders + databases.map(\.path) { seen[path] = Identity(path) }
    }

    /// The file that is gone or was replaced; nil when everything is still there. A database created in the meantime is
    /// checked from then on.
    /// - Parameter ready: instances that have been ready, and so have created their databases.
    mutating func problem(ready: Set<String>) -> Failure? {
        let made = Set(databases.filter { $0.isCertain && ready.contains($0.instance) }.map(\.path))
        for path in folders + databases.map(\.path) {
            let now = Identity(path)
            let before = seen[path]
            seen[path] = before ?? now
            guard (before != nil && now != before) || (now == nil && made.contains(path)) else { continue }
            return Failure(
                "\(path) was \(now == nil ? "removed" : "replaced by another") while the stack ran; the stack has stopped, "
                    + "because anything it took in after that would be lost",
                hint: "put it back, or restore a backup with 'healthbus restore BACKUP'; "
                    + "if that was intended, start from scratch with 'healthbus up' and import your export again")
        }
        return nil
    }
}
