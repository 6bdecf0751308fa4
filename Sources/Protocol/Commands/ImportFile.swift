import HealthModel

/// To the observer: take a file in. Said again each second by a tool that can give its bytes, while they are wanted.
package struct ImportFile: BusCommand, Equatable {
    package static let name = "import"

    /// The command's own, and so the import's.
    package var id: String?
    /// Absolute, or "standard input".
    package var path: String
    /// The tool that can be asked for the bytes.
    @IfReadable package var sender: String? = nil
    /// Which file that is; nil: a pipe.
    @IfReadable package var file: FileIdentity? = nil
    /// Whose data it is; nil: the observer's usual user.
    @IfReadable package var user: String? = nil
    /// The export is all there is: what it lacks is deleted.
    @IfReadable package var complete: Bool? = nil
    /// Nothing is changed.
    @IfReadable package var dryRun: Bool? = nil
    /// Percent of the covered samples that may be deleted; nil: 5.
    @IfReadable package var deleteUpTo: Double? = nil
    /// It is taken in though made-up data and a person's would come together.
    @IfReadable package var mixMadeUp: Bool? = nil

    package init(id: String? = nil, path: String, user: String? = nil, file: FileIdentity? = nil) {
        self.id = id
        self.path = path
        self.user = user
        self.file = file
    }
}

/// Which file a name means: told by the system's own marks, since in another container the same name is another file.
package struct FileIdentity: Codable, Equatable, Sendable {
    package var device: Int64
    package var inode: Int64
    package var size: Int64
    package var modified: Instant

    package init(device: Int64, inode: Int64, size: Int64, modified: Instant) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
    }
}
