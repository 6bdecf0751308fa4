import Foundation
import Glibc
import ObserverStage
import Simulation
import StageKit
import TestSupport
import Testing

/// Which files are removed from the inbox, and which aren't.
@Suite struct InboxTests {
    private let folder: TemporaryFolder
    private let inbox: Inbox

    init() throws {
        folder = try TemporaryFolder()
        inbox = try Inbox(folder: folder.path + "/inbox")
        for name in ["a", "b", "c", "d.part"] { try Data(name.utf8).write(to: URL(fileURLWithPath: path(name))) }
    }

    private func path(_ name: String) -> String { folder.path + "/inbox/" + name }
    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path + "/inbox").sorted() }
    }

    private func perform(_ request: ObserverEffect) {
        inbox.perform(Effect(id: 1, request: request)) { _ in true }
    }

    /// The stage that asked for a file's removal doesn't know about a file that arrives in the meantime.
    @Test func aClosedSessionTakesOnlyItsOwnFile() async throws {
        perform(.discard(.file(id: "b")))
        _ = try await eventually(every: 2) { try !files.contains("b") }
        #expect(try files == ["a", "c", "d.part"])
    }

    /// A file on another file system can't be linked. The copy's original may be readable by everybody.
    @Test(.enabled(if: InboxTests.isShmElsewhere, "needs a second file system"))
    func aCopyIsItsOwnersAlone() async throws {
        let source = "/dev/shm/healthbus-\(UUID().uuidString).xml"
        try Data("<HealthData/>".utf8).write(to: URL(fileURLWithPath: source))
        defer { unlink(source) }
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: source)
        perform(.adopt(id: "e", path: source, file: nil))
        _ = try await eventually(every: 2) { try files.contains("e") }
        let rights = try FileManager.default.attributesOfItem(atPath: path("e"))[.posixPermissions] as? Int
        #expect(rights == 0o600)
    }

    private static var isShmElsewhere: Bool {
        var (one, other) = (stat(), stat())
        return stat("/dev/shm", &one) == 0 && stat(NSTemporaryDirectory(), &other) == 0 && one.st_dev != other.st_dev
    }

    @Test func atTheStartWhatNobodyNamesIsGoneBeforeAnythingComesIn() throws {
        perform(.discard(.everything(besides: ["a", "e"])))
        #expect(try files == ["a"])
    }
}
