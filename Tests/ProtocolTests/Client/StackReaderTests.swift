import Changelog
import Client
import Clocks
import Configuration
import Foundation
import HealthModel
import HubStage
import MessageBus
import Protocol
import SQLite
import StageKit
import Synchronization
import TestSupport
import Testing

/// Reading what an instance holds, while it runs and after it has stopped.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct StackReaderTests {
    final class Filled: Stage {
        let subscriptions: [Subscription] = []

        func open(_ turn: Turn) throws {
            _ = try turn.write()
            let body = Value.string(String(repeating: "x", count: 1000))
            for day in 0..<StackReaderTests.days {
                try turn.changelog.put(
                    key: "day/me/\(LocalDay(number: day))", topic: "daily.summary", user: "me", day: day, body: body)
            }
        }

        func receive(_ message: Message, _ turn: Turn) throws {}
        func tick(_ turn: Turn) throws -> MonotonicTime? { nil }
        func report(_ turn: Turn) throws -> StageReport { StageReport() }
    }

    /// More than fits into the pages of one request: four of 48 KiB.
    static let days = 700

    @Test func allRowsComeWhetherItRunsOrNot() throws {
        let state = StateFolder(path: "/tmp/hb-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(atPath: state.path) }
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
        let catalog = try PluginCatalog(folder: root.appending(path: "plugins").path, programs: "")
        let stack = try StackConfiguration(path: nil, catalog: catalog)
        let consolidator = try #require(stack.only(.consolidator))
        for folder in [state.path, state.instance(consolidator.name), state.sockets] { try StateFolder.make(folder) }
        func count() throws -> Int {
            try StackReader(state: state, stack: stack) { ChangelogSource(database: $1) }
                .rows(consolidator, topic: "daily.summary").count
        }

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
        let path = state.database(consolidator.name)
        let address = state.address
        do {
            let lock = try #require(try InstanceLock.take(folder: state.instance(consolidator.name)))
            defer { withExtendedLifetime(lock) {} }
            start { try forwarder.run(address: address, ready: {}, heartbeat: { nil }) }
            start {
                try host.run(
                    stage: Filled(), database: try StageDatabase(path: path), address: address,
                    effects: nil,
                    source: {
                        let reader = try Database(path: path, mode: .readOnly)
                        return (reader, ChangelogSource(database: reader))
                    })
            }
            defer {
                host.stop()
                forwarder.stop()
                running.wait()
            }
            // Before its file exists, a running instance holds nothing.
            try #require(eventually { FileManager.default.fileExists(atPath: path) })
            #expect(try count() == Self.days)
        }
        #expect(try count() == Self.days)
        #expect(failures.withLock(\.self) == [])
    }
}
