import Changelog
import Client
import Clocks
import Configuration
import Foundation
import Glibc
import HealthModel
import HubStage
import Protocol
import SQLite
import StageKit
import Synchronization
import TestSupport
import Testing

/// A stack whose folders are elsewhere, as in containers: everything a command learns about it comes over the bus.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct ElsewhereTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func whoHasNoFolderOfTheStackAsksOverTheBus() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
        let catalog = try PluginCatalog(folder: root.appending(path: "plugins").path, programs: "")
        let there = StateFolder(path: folder.path + "/there")
        let file = folder.path + "/stack.json"
        let ports = [try freePort(), try freePort()]
        let bus: Value = [
            "publish": .string("tcp://127.0.0.1:\(ports[0])"), "subscribe": .string("tcp://127.0.0.1:\(ports[1])"),
            "keys": .string(there.path + "/keys"),
        ]
        try Data(Value.object(["bus": bus]).json().utf8).write(to: URL(fileURLWithPath: file))
        let stack = try StackConfiguration(path: file, catalog: catalog)
        let consolidator = try #require(stack.only(.consolidator))
        try StateFolder.make(there.instance(consolidator.name))
        _ = try stack.keyFolder(there, environment: [:]).initialize(stack.keyRoles, owner: nil)
        func reader() -> StackReader {
            StackReader(state: StateFolder(path: folder.path + "/here"), stack: stack) { ChangelogSource(database: $1) }
        }
        // No process answers: that is reported within seconds, and not as an empty stack.
        #expect(try !reader().isRunning(consolidator.name))

        let forwarder = try Forwarder()
        let host = StageHost(instance: consolidator.name, plugin: "consolidator", log: .silent)
        let failures = Mutex<[String]>([])
        let running = DispatchGroup()
        func start(_ body: @escaping @Sendable () throws -> Void) {
            running.enter()
            Thread {
                do { try body() } catch { failures.withLock { $0.append("\(error)") } }
                running.leave()
            }.start()
        }
        let path = there.database(consolidator.name)
        let seal = try #require(try stack.hubSeal(in: there))
        let address = try stack.address(in: there, as: consolidator.name)
        start { try forwarder.run(address: stack.listening(address), seal: seal, ready: {}, heartbeat: { nil }) }
        start {
            try host.run(
                stage: StackReaderTests.Filled(), database: try StageDatabase(path: path),
                address: address, effects: nil,
                source: {
                    let reader = try Database(path: path, mode: .readOnly)
                    return (reader, ChangelogSource(database: reader))
                })
        }
        defer {
            host.stop()
            forwarder.stop()
            running.wait()
            #expect(failures.withLock(\.self) == [])
        }
        try #require(try eventually { try reader().isRunning(consolidator.name) })
        let asking = reader()
        #expect(try asking.rows(consolidator, topic: "daily.summary").count == StackReaderTests.days)
        #expect(try !asking.isRunning("steps"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/here"))
    }
}
