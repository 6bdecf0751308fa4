import HealthModel

/// Asks the observer to import a file. A tool that can send the file's bytes repeats the command every second for as
/// long as the bytes are needed.
package struct ImportFile: BusCommand, Equatable {
    package static let name = "import"

    /// The id of the command, and so of the import.
    package var id: String?
    /// An absolute path, or "standard input".
    package var path: String
    /// The tool that can be asked for the bytes.
    @IfReadable package var sender: String? = nil
    /// Which file it is; nil for a pipe.
    @IfReadable package var file: FileIdentity? = nil
    /// Whose data it is; nil for the observer's default user.
    @IfReadable package var user: String? = nil
    /// Whether the export is complete, so that anything it lacks is deleted.
    @IfReadable package var complete: Bool? = nil
    /// Whether the import is to change nothing.
    @IfReadable package var dryRun: Bool? = nil
    /// The percentage of covered samples that may be deleted; nil means 5.
    @IfReadable package var deleteUpTo: Double? = nil
    /// Whether to import it even if that mixes made-up data with a person's own.
    @IfReadable package var mixMadeUp: Bool? = nil

    package init(id: String? = nil, path: String, user: String? = nil, file: FileIdentity? = nil) {
        (self.id, self.path, self.user, self.file) = (id, path, user, file)
    }
}

/// Which file a path refers to, by the system's own identifiers, since the same path in another container is another
/// file.
package struct FileIdentity: Codable, Equatable, Sendable {
    package var device: Int64
    package var inode: Int64
    package var size: Int64
    package var modified: Instant

    package init(device: Int64, inode: Int64, size: Int64, modified: Instant) {
        (self.device, self.inode, self.size, self.modified) = (device, inode, size, modified)
    }
}
