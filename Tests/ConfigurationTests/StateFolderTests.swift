import Configuration
import Foundation
import Glibc
import HealthModel
import Logging
import Synchronization
import TestSupport
import Testing

@Suite struct StateFolderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func rights(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func isItsOwnersAlone() throws {
        let path = folder.path + "/a/b"
        try StateFolder.make(path)
        #expect(try rights(path) == 0o700 && rights(folder.path + "/a") == 0o700)
        // A folder that was accessible to others is closed to them.
        #expect(chmod(path, 0o755) == 0)
        try StateFolder.make(path)
        #expect(try rights(path) == 0o700)
    }

    @Test func aWrittenFileIsItsOwnersAloneWhateverWasThere() throws {
        let path = folder.path + "/ride.gpx"
        try PrivateFile.write("a", to: path)
        #expect(try rights(path) == 0o600)
        #expect(chmod(path, 0o644) == 0)
        try PrivateFile.write("b", to: path)
        #expect(try rights(path) == 0o600)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "b")
        #expect(throws: Failure.self) { try PrivateFile.write("c", to: folder.path + "/none/ride.gpx") }
        // No draft is left behind.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["ride.gpx"])
    }

    @Test func aFileInItsPlaceIsAnError() throws {
        let path = folder.path + "/file"
        try "x".write(toFile: path, atomically: true, encoding: .utf8)
        let error = #expect(throws: StateFolderError.self) { try StateFolder.make(path + "/below") }
        #expect(error?.hint.contains("--state") == true)
    }

    @Test func socketsOfALongPathLieElsewhere() {
        let short = StateFolder(path: "/srv/healthbus")
        #expect(short.sockets == "/srv/healthbus/run")
        let long = StateFolder(path: "/srv/" + String(repeating: "x", count: 100))
        #expect(long.sockets.hasPrefix("/tmp/healthbus-\(getuid())-"))
        // The folder for sockets: the same for all processes of a stack, different for another stack, and short enough
        // for a socket (107 bytes).
        #expect(long.sockets == StateFolder(path: long.path).sockets)
        #expect(long.sockets != StateFolder(path: long.path + "y").sockets)
        for state in [short, long, StateFolder(path: "/" + String(repeating: "y", count: 98))] {
            #expect((state.sockets + "/pub").utf8.count <= 107)
        }
    }

    @Test func theEnvironmentSaysWhere() {
        #expect(StateFolder.standard(environment: ["HEALTHBUS_STATE": "/a", "HOME": "/h"]).path == "/a")
        #expect(StateFolder.standard(environment: ["XDG_STATE_HOME": "/x", "HOME": "/h"]).path == "/x/healthbus")
        #expect(StateFolder.standard(environment: ["HOME": "/h"]).path == "/h/.local/state/healthbus")
    }

    @Test func whoeverMakesASecretFirstAllHaveTheSame() throws {
        let path = folder.path + "/secrets/token"
        let seen = Mutex<[String]>([])
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 32) { _ in
            do {
                try SecretFile.ensure(path)
                let secret = try SecretFile.read(path)
                seen.withLock { $0.append(secret) }
            } catch { failures.withLock { $0.append("\(error)") } }
        }
        #expect(failures.withLock { $0 } == [])
        let secrets = seen.withLock { $0 }
        #expect(secrets.count == 32 && Set(secrets).count == 1)
        #expect((secrets.first?.utf8.count ?? 0) >= 32)
        #expect(try rights(path) == 0o600 && rights(folder.path + "/secrets") == 0o700)
        // No temporary file is left behind.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/secrets") == ["token"])
    }

    @Test func aMissingSecretSaysSo() {
        let error = #expect(throws: (any Error).self) { try SecretFile.read(folder.path + "/none") }
        #expect("\(error as Any)".contains("none"))
    }
}
