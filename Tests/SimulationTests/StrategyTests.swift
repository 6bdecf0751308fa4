import Configuration
import Foundation
import HealthModel
import Simulation
import Testing

@Suite(.serialized) struct StrategyTests {
    private static func stack() throws -> StackConfiguration {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
        return try StackConfiguration(
            path: nil, catalog: try PluginCatalog(folder: root + "/plugins", programs: ""))
    }

    /// Whatever the phone does, what it lets through late comes whole.
    @Test(arguments: DeliveryStrategy.allCases.filter { $0 != .naive })
    func nothingIsLostOrDoubledInTheWorstLife(strategy: DeliveryStrategy) throws {
        let result = try Simulator(Self.stack(), life: .worst(seed: 3, days: 6)).run(strategy)
        #expect(result.samples > 3000)
        #expect(result.lost == 0)
        #expect(result.doubled == 0)
        #expect(result.max ?? 0 > 3600, "a life in which nothing is late proves nothing")
    }

    @Test func withoutAnchorsSamplesAreLost() throws {
        let result = try Simulator(Self.stack(), life: .init(seed: 3, days: 6)).run(.naive)
        #expect(result.lost > 0)
    }

    /// The matrix as developers know it, measured.
    @Test func strategiesCanDoWhatTheyAreKnownFor() throws {
        let simulator = try Simulator(Self.stack(), life: .init(seed: 1, days: 1))
        func matrix(_ strategy: DeliveryStrategy) throws -> StrategyMatrix { try simulator.run(strategy).matrix }
        let delivery = try matrix(.backgroundDelivery)
        #expect(delivery.triggersOnData && delivery.whenTerminated && !delivery.afterForceQuit && !delivery.whenLocked)
        let push = try matrix(.silentPush)
        #expect(push.whenLocked && !push.deliversWhenLocked, "locked, health data can't be read")
        #expect(!push.triggersOnData && push.whenTerminated && push.needsBackend && !push.afterForceQuit)
        let refresh = try matrix(.appRefresh)
        #expect(refresh.whenLocked)
        #expect(!refresh.triggersOnData && refresh.whenTerminated && !refresh.afterForceQuit && !refresh.needsBackend)
        let combined = try matrix(.combined)
        #expect(combined.triggersOnData && combined.maxRunSeconds == 600)
    }
}
