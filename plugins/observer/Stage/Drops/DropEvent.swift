import HealthModel
import Protocol

/// A whole file in the inbox folder.
package struct DroppedFile: Sendable, Equatable {
    package var name: String
    package var path: String
    package var file: FileIdentity
    /// Of its content, as `ContentHash` gives it.
    package var hash: [UInt8]

    package init(name: String, path: String, file: FileIdentity, hash: [UInt8]) {
        (self.name, self.path, self.file, self.hash) = (name, path, file, hash)
    }
}

/// Where a file goes that has been dealt with.
package struct DropSettlement: Sendable, Equatable {
    package var folder: String
    package var name: String
    /// Only this file is moved: another may lie there by now.
    package var file: FileIdentity
    package var isDone: Bool
    /// What lies beside it then: JSON.
    package var report: [UInt8]

    package init(folder: String, name: String, file: FileIdentity, isDone: Bool, report: [UInt8]) {
        self.folder = folder
        self.name = name
        self.file = file
        self.isDone = isDone
        self.report = report
    }
}

/// What comes of watching the inbox folder.
package enum DropEvent: Sendable, Equatable {
    case found(DroppedFile)
    /// Files can't be taken out of the folder, with what to do; nil: now they can.
    case trouble(String?)
    /// It has been moved, or is there no more.
    case settled(name: String)
    case unsettled(name: String, reason: String)
}
