import Configuration
import Foundation
import Glibc
import HealthModel
import Logging
import MessageBus
import TestSupport
import Testing

/// The key files of a sealed bus.
@Suite struct KeyFolderTests {
    let folder: TemporaryFolder
    let keys: KeyFolder
    private let now: Instant = 1_795_000_000_000_000

    init() throws {
        folder = try TemporaryFolder()
        keys = KeyFolder(path: folder.path + "/state/keys", hub: "hub")
    }

    private func initialize() throws -> [String] {
        try keys.initialize([("steps", .instance("steps")), ("tap", .tap)], owner: nil)
    }

    @Test func whatIsThereIsKept() throws {
        #expect(try initialize() == ["hub", "steps", "tap"])
        let before = try keys.credentials(of: "steps", environment: [:])
        #expect(try initialize() == [])
        #expect(try keys.credentials(of: "steps", environment: [:]) == before)
        #expect(try before.hub == keys.pair(of: "hub", environment: [:]).publicKey)
        #expect(try keys.allowedKey("steps")?.keys == [.init(publicKey: before.own.publicKey)])
        #expect(try keys.allowedNames() == ["steps", "tap"])
    }

    @Test func onlyTheOwnerReads() throws {
        _ = try initialize()
        let files = try #require(FileManager.default.enumerator(atPath: keys.path)).compactMap { $0 as? String }
        #expect(files.count == 3 * 3 + 2 + 3)
        for file in files {
            var status = stat()
            #expect(stat(keys.path + "/" + file, &status) == 0)
            #expect(status.st_mode & 0o777 == (status.st_mode & S_IFMT == S_IFDIR ? 0o700 : 0o600), "\(file)")
        }
        #expect(chmod(keys.folder("steps") + "/secret", 0o644) == 0)
        let error = try #require(throws: Failure.self) { try keys.credentials(of: "steps", environment: [:]) }
        #expect(error.message.contains("is open to other users") && error.hint?.contains("chmod 600") == true)
    }

    @Test func aWrongVariableIsNamed() throws {
        _ = try initialize()
        let error = try #require(throws: Failure.self) {
            try keys.credentials(of: "steps", environment: ["HEALTHBUS_HUB_KEY": "nonsense"])
        }
        #expect(error.message.hasPrefix("HEALTHBUS_HUB_KEY doesn't hold a key"))
    }

    @Test func bothKeysHoldWhileOneReplacesTheOther() throws {
        _ = try initialize()
        let old = try keys.pair(of: "steps", environment: [:]).publicKey
        try keys.rotate("steps", oldUntil: now + .seconds(600), now: now)
        let new = try keys.pair(of: "steps", environment: [:]).publicKey
        #expect(new != old)
        let entry = try #require(try keys.allowedKey("steps"))
        #expect(entry.valid(at: now).map(\.publicKey) == [new, old])
        #expect(entry.valid(at: now + .seconds(601)).map(\.publicKey) == [new])
        // If a key is rotated again within that time, three keys are valid, and the oldest no longer than promised.
        try keys.rotate("steps", oldUntil: now + .seconds(900), now: now)
        let third = try #require(try keys.allowedKey("steps"))
        #expect(third.valid(at: now).count == 3)
        #expect(third.valid(at: now + .seconds(601)).count == 2)
        #expect(third.valid(at: now + .seconds(901)).count == 1)
        // Without a grace period, the old key is invalid at once.
        try keys.rotate("steps", oldUntil: now, now: now)
        #expect(try keys.allowedKey("steps")?.keys.count == 1)
    }

    @Test func theHubsNewKeyReachesEveryFolder() throws {
        _ = try initialize()
        let old = try keys.credentials(of: "tap", environment: [:])
        try keys.rotateHub()
        let new = try keys.credentials(of: "tap", environment: [:])
        #expect(new.own == old.own && new.hub != old.hub)
        #expect(try new.hub == keys.pair(of: "hub", environment: [:]).publicKey)
    }

    @Test func whatIsRemovedIsGone() throws {
        _ = try initialize()
        try keys.remove("tap")
        #expect(try keys.allowedNames() == ["steps"])
        #expect(!FileManager.default.fileExists(atPath: keys.folder("tap")))
        #expect(throws: Failure.self) { try keys.remove("tap") }
        #expect(throws: Failure.self) { try keys.rotate("tap", oldUntil: now, now: now) }
    }

    /// A process needs only its own folder, or two values from its environment.
    @Test func aProcessNeedsOnlyItsOwn() throws {
        _ = try initialize()
        let wanted = try keys.credentials(of: "steps", environment: [:])
        let alone = KeyFolder(path: folder.path + "/alone", hub: "hub")
        try FileManager.default.createDirectory(atPath: alone.path, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: keys.folder("steps"), toPath: alone.folder("steps"))
        #expect(try alone.credentials(of: "steps", environment: [:]) == wanted)
        let file = keys.folder("steps") + "/secret"
        let secret = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        let nowhere = KeyFolder(path: folder.path + "/none", hub: "hub")
        for own in [["HEALTHBUS_KEY": secret], ["HEALTHBUS_KEY_FILE": file]] {
            let environment = own.merging(["HEALTHBUS_HUB_KEY": wanted.hub]) { a, _ in a }
            #expect(try nowhere.credentials(of: "steps", environment: environment) == wanted)
        }
        let error = try #require(throws: Failure.self) { try nowhere.credentials(of: "steps", environment: [:]) }
        #expect(error.message.contains("none/steps/secret") && error.hint?.contains("healthbus keys init") == true)
    }

    @Test(arguments: ["", "short", String(repeating: "\"", count: 40), String(repeating: "a", count: 41)])
    func whatIsNoKeyIsNamed(text: String) throws {
        _ = try initialize()
        let file = keys.folder("steps") + "/secret"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        #expect(chmod(file, 0o600) == 0)
        let error = try #require(throws: Failure.self) { try keys.credentials(of: "steps", environment: [:]) }
        #expect(error.message.hasPrefix(file) && (text.isEmpty || !error.message.contains(text)))
    }

    @Test(arguments: [("1000", 1000, 1000), ("5:7", 5, 7)])
    func ownersAreNumbers(text: String, user: UInt32, group: UInt32) {
        #expect(FileOwner(text) == FileOwner(user: user, group: group))
        for wrong in ["", "a", "1:", ":1", "1:2:3", "-1"] { #expect(FileOwner(wrong) == nil, "\(wrong)") }
    }
}

/// The member "bus" of a configuration.
@Suite struct BusConfigurationTests {
    private func stack(_ bus: String) throws -> StackConfiguration {
        let folder = try TemporaryFolder()
        let file = folder.path + "/stack.json"
        try Data(#"{ "bus": \#(bus) }"#.utf8).write(to: URL(fileURLWithPath: file))
        return try StackConfiguration(path: file, catalog: try .standard())
    }

    @Test func overTCPItIsSealed() throws {
        let remote = try stack(#"{ "publish": "tcp://hub:5591", "subscribe": "tcp://hub:5592", "keys": "/k" }"#)
        #expect(remote.bus.isSealed && remote.bus.isRemote && remote.bus.keys == "/k")
        #expect(try !stack(#"{ "publish": "ipc:///tmp/a", "subscribe": "ipc:///tmp/b" }"#).bus.isSealed)
        #expect(try stack(#"{ "sealed": true }"#).bus.isSealed)
        // No process starts without its keys.
        let folder = try TemporaryFolder()
        let state = StateFolder(path: folder.path)
        let bare = try stack(#"{ "publish": "tcp://hub:5591", "subscribe": "tcp://hub:5592" }"#)
        for attempt in [{ _ = try bare.address(in: state, as: "steps") }, { _ = try bare.hubSeal(in: state) }] {
            let error = try #require(throws: Failure.self) { try attempt() }
            #expect(error.hint?.contains("healthbus keys init") == true)
        }
    }

    @Test(arguments: [
        (#"{ "publish": "tcp://h:1", "subscribe": "tcp://h:2", "sealed": false }"#, "can't be false over TCP"),
        (#"{ "publish": "tcp://h:1", "subscribe": "ipc:///tmp/b" }"#, "must both begin"),
        (#"{ "publish": "tcp://h:1", "subscribe": "tcp://h:1" }"#, "two different"),
        (#"{ "publish": "tcp://h:1" }"#, "needs 'publish' and 'subscribe'"),
        (#"{ "publish": "tcp://h", "subscribe": "tcp://h:2" }"#, "tcp://HOST:PORT"),
        (#"{ "publish": "tcp://h:70000", "subscribe": "tcp://h:2" }"#, "tcp://HOST:PORT"),
        (#"{ "publish": "udp://h:1", "subscribe": "udp://h:2" }"#, "must both begin"),
        (#"{ "seald": true }"#, "use one of keys, publish, sealed, subscribe"),
        (#"{ "sealed": 1 }"#, "must be true or false"), (#"[]"#, "must be an object"),
    ])
    func whatCannotBeIsNamed(bus: String, reason: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try stack(bus) }
        #expect(error.description.contains(reason), "\(error)")
    }
}
