import Control
import Logging
import TestSupport
import Testing

@Suite struct BackupFolderTests {
    /// --state would name another stack, not another place for the copy.
    @Test func aFolderThatCantBeMadeIsntTheStacks() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("file", "")
        let error = #expect(throws: Failure.self) { try Backup.makeFolder(file + "/backup") }
        #expect(error?.message == "\(file)/backup can't be made" && error?.hint == "choose another folder")
    }
}
