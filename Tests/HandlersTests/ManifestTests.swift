import EnergyStage
import Foundation
import GenericStage
import HealthModel
import HeartRateStage
import SleepStage
import StepsStage
import Testing

import struct BodyStage.BodyHandler
import struct WorkoutsStage.WorkoutsHandler

/// Tests that the manifests match what the handlers actually do.
@Suite struct ManifestTests {
    static func manifest(_ name: String) throws -> Value {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try Value(json: Data(contentsOf: root.appending(path: "plugins/\(name)/plugin.json")), comments: true)
    }

    static let handlers: [(String, any DayHandler)] = [
        ("steps", StepsHandler()), ("heart-rate", HeartRateHandler()), ("sleep", SleepHandler()),
        ("energy", EnergyHandler()),
        ("workouts", WorkoutsHandler()), ("body", BodyHandler()), ("generic", GenericHandler()),
    ]

    @Test func matchTheHandlers() throws {
        for (name, handler) in Self.handlers {
            let manifest = try Self.manifest(name)
            #expect(manifest["name"].string == name)
            #expect(manifest["version"].int == Int64(handler.version))
            #expect(manifest["executable"].string == "healthbus-" + name)
        }
    }

    /// A handler only requests types in its manifest, and doesn't list a type both as its own and as one that it only
    /// reads.
    @Test func namesWhatItReads() throws {
        for (name, handler) in Self.handlers where name != "generic" {
            let manifest = try Self.manifest(name)
            let types = Set((manifest["types"].array ?? []).compactMap(\.string))
            let reads = Set((manifest["reads"].array ?? []).compactMap(\.string))
            #expect(types.isDisjoint(with: reads))
            let withStatistics = types.filter(HealthType.countsStatistics).map { HealthType.statistics(of: $0) }
            #expect(handler.detailedTypes.isSubset(of: types.union(reads).union(withStatistics)))
            #expect(handler.payloadTypes.isSubset(of: types.union(reads).union(withStatistics)))
            #expect(Set(handler.during.keys).union(handler.during.values).isSubset(of: types.union(reads)))
        }
    }

    @Test func everyTypeHasOneHandler() throws {
        let declared = try Self.handlers.filter { $0.0 != "generic" }
            .flatMap { try Self.manifest($0.0)["types"].array ?? [] }.compactMap(\.string)
        #expect(Set(declared).count == declared.count)
        for type in declared { #expect(HealthType.known(type) != nil, "\(type)") }
    }
}
