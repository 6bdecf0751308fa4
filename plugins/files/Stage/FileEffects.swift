import HealthModel

/// A piece of a file. The pieces of a job come in order; the last one puts the file in place.
package struct FilePart: Sendable {
    package enum Content: Sendable {
        case samples([SamplePage], SampleRows)
        case bytes([UInt8], rows: Int64)
    }

    /// The number that the stage gave to this writing of the file.
    package var job: Int64
    package var path: String
    /// What comes before the first row; written with the first piece.
    package var head: [UInt8]
    package var content: Content
    package var isFirst: Bool
    package var isLast: Bool
    /// The file's current content, if known: an identical file isn't touched.
    package var known: FileLedger.Entry?
    /// Whether a file without rows is kept.
    package var keepsEmpty: Bool
    /// Whether the folder is created if it is missing: true if nothing was ever written there.
    package var makesFolder: Bool
    /// Whether nothing is written, but the file that is there is compared.
    package var compares: Bool

    package init(
        job: Int64, path: String, head: [UInt8] = [], content: Content, isFirst: Bool, isLast: Bool,
        known: FileLedger.Entry? = nil, keepsEmpty: Bool = false, makesFolder: Bool,
        compares: Bool = false
    ) {
        (self.job, self.path, self.head, self.content, self.isFirst) = (job, path, head, content, isFirst)
        (self.isLast, self.known, self.keepsEmpty, self.makesFolder) = (isLast, known, keepsEmpty, makesFolder)
        self.compares = compares
    }
}

/// Abandons a file that isn't to be written after all.
package struct DropFile: Sendable {
    package var job: Int64
}

/// Lists the files in the folder, and removes leftovers of interrupted writing.
package struct ListFiles: Sendable {
    package var makesFolder: Bool

    package init(makesFolder: Bool) { self.makesFolder = makesFolder }
}

/// Compares files with what was written.
package struct CompareFiles: Sendable {
    package var entries: [FileLedger.Entry]
    /// Whether to compare contents too, not just sizes.
    package var readsAll: Bool

    package init(entries: [FileLedger.Entry], readsAll: Bool) { (self.entries, self.readsAll) = (entries, readsAll) }
}

/// The outcome of an effect.
package enum FileOutcome: Sendable {
    /// The piece has been accepted; the next may come.
    case taken
    /// The file is complete and in place, and will survive a power loss.
    case written(rows: Int64, bytes: Int64, sum: String, isChanged: Bool)
    /// The file that is there was compared with its pieces; nil if it is the same.
    case proved(FileDifference?)
    /// There is no such file any more.
    case removed
    /// Paths of our own files, a few at a time.
    case listed([String], isLast: Bool)
    /// The files that are missing, or differ from what was written.
    case compared(differing: [String])
    case failed(FileProblem)
}

/// Why files can't be written: what happened, and what to do now.
package struct FileProblem: Error, Equatable, Sendable, CustomStringConvertible {
    package var description: String
    /// Whether other files can be written.
    package var isOfOneFile = false

    package init(_ description: String) { self.description = description }
}
