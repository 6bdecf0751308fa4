import HealthImport
import HealthModel
import Protocol

/// Reports which files in the inbox folder have been left alone for long enough to be complete. Pure.
package struct DropWatch {
    private struct Seen {
        var file: FileIdentity
        var since: MonotonicTime
        var isReported = false
    }

    private var seen: [String: Seen] = [:]

    package init() {}

    /// Whether a name is one that programs give to files they are still writing, or to files for their own use.
    package static func isPassedOver(_ name: String) -> Bool {
        let name = name.lowercased()
        // Syncthing, rsync and iCloud hide theirs behind a dot; on Windows Syncthing's begin with a tilde.
        if name.hasPrefix(".") || name.hasPrefix("~") || name.hasSuffix("~") { return true }
        return [
            ".part", ".partial", ".filepart", ".tmp", ".temp", ".icloud", ".crdownload", ".download", ".opdownload",
        ].contains { name.hasSuffix($0) }
    }

    /// How long a file must have stayed unchanged, depending on its first and last bytes.
    package static func patience(_ end: ExportEnd) -> Duration {
        switch end {
        case .whole: .seconds(3)
        case .foreign: .seconds(60)
        // A file without its end is still being written, or was cut off; in the latter case its import reports that.
        case .open: .seconds(600)
        }
    }

    /// Takes the folder's current content.
    /// - Returns: files that haven't been reported yet, with how long they have been unchanged.
    package mutating func look(
        _ files: [String: FileIdentity], at now: MonotonicTime
    ) -> [(name: String, file: FileIdentity, rest: Duration)] {
        seen = seen.filter { files[$0.key] == $0.value.file }
        var waiting: [(name: String, file: FileIdentity, rest: Duration)] = []
        for (name, file) in files.sorted(by: { $0.key < $1.key }) where !Self.isPassedOver(name) {
            let known = seen[name] ?? Seen(file: file, since: now)
            seen[name] = known
            if !known.isReported { waiting.append((name, file, now - known.since)) }
        }
        return waiting
    }

    /// Notes that the stage has learned of the file.
    package mutating func noteReported(_ name: String) { seen[name]?.isReported = true }
}
