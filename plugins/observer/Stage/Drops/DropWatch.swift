import HealthImport
import HealthModel
import Protocol

/// Tells which files of the inbox folder have been left alone for long enough to be whole. Pure.
package struct DropWatch {
    private struct Seen {
        var file: FileIdentity
        var since: MonotonicTime
        var isTold = false
    }

    private var seen: [String: Seen] = [:]

    package init() {}

    /// Whether a name is one that programs give to what they are still writing, or that only they read.
    package static func isPassedOver(_ name: String) -> Bool {
        let name = name.lowercased()
        // Syncthing, rsync and iCloud hide theirs behind a dot; on Windows Syncthing's begins with a tilde.
        if name.hasPrefix(".") || name.hasPrefix("~") || name.hasSuffix("~") { return true }
        return [
            ".part", ".partial", ".filepart", ".tmp", ".temp", ".icloud", ".crdownload", ".download", ".opdownload",
        ].contains { name.hasSuffix($0) }
    }

    /// How long a file must have stayed as it is, by what its first and last bytes say of it.
    package static func patience(_ end: ExportEnd) -> Duration {
        switch end {
        case .whole: .seconds(3)
        case .foreign: .seconds(60)
        // What lacks its end is being written, or was cut off: then an import says so.
        case .open: .seconds(600)
        }
    }

    /// Takes what the folder holds now.
    /// - Returns: files that haven't been told yet, with how long they are as they are now.
    package mutating func look(
        _ files: [String: FileIdentity], at now: MonotonicTime
    ) -> [(name: String, file: FileIdentity, rest: Duration)] {
        seen = seen.filter { files[$0.key] == $0.value.file }
        var waiting: [(name: String, file: FileIdentity, rest: Duration)] = []
        for (name, file) in files.sorted(by: { $0.key < $1.key }) where !Self.isPassedOver(name) {
            let known = seen[name] ?? Seen(file: file, since: now)
            seen[name] = known
            if !known.isTold { waiting.append((name, file, now - known.since)) }
        }
        return waiting
    }

    /// The stage knows of it.
    package mutating func tell(_ name: String) { seen[name]?.isTold = true }
}
