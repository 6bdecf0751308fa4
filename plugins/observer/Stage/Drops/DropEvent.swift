import HealthModel
import Protocol

/// A complete file in the inbox folder.
package struct DroppedFile: Sendable, Equatable {
    package var name: String
    package var path: String
    package var file: FileIdentity
    /// The `ContentHash` of its content.
    package var hash: [UInt8]

    package init(name: String, path: String, file: FileIdentity, hash: [UInt8]) {
        (self.name, self.path, self.file, self.hash) = (name, path, file, hash)
    }
}

/// Where a file goes once it has been dealt with.
package struct DropSettlement: Sendable, Equatable {
    package var folder: String
    package var name: String
    /// Only this file is moved, because a different one may have its name by now.
    package var file: FileIdentity
    package var isDone: Bool
    /// The report, in JSON, that is put beside it there.
    package var report: [UInt8]

    package init(folder: String, name: String, file: FileIdentity, isDone: Bool, report: [UInt8]) {
        (self.folder, self.name, self.file, self.isDone, self.report) = (folder, name, file, isDone, report)
    }
}

/// The results of watching the inbox folder.
package enum DropEvent: Sendable, Equatable {
    case found(DroppedFile)
    /// Why files can't be taken from the folder, and what to do; nil once they can again.
    case trouble(String?)
    /// The file has been moved, or is no longer there.
    case settled(name: String)
    case unsettled(name: String, reason: String)
}
