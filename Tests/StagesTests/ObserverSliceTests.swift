import Changelog
import HealthModel
import ObserverReading
import ObserverStage
import Protocol
import TestSupport
import Testing

/// What else a slice's members show besides the types that it returns.
extension ObserverDeliveryTests {
    private func slice(
        _ rig: StageRig<ObserverStage>, consumer: String = "steps", _ members: [String: Value]
    ) throws -> SamplePage {
        let request = try #require(request("slice", consumer: consumer).object).merging(members) { $1 }
        var (pages, whole): ([Value], SamplePage) = ([], SamplePage())
        try ObserverSource(database: rig.store.database).answer(.object(request), head: rig.store.head) { page, _ in
            pages.append(page["samples"] ?? .null)
        }
        for page in pages { whole.append(try SamplePage(wireValue: page)) }
        return whole
    }

    /// When samples of a denied type were isn't shown by those of another during them.
    @Test func duringADeniedTypeThereIsNothing() throws {
        let rig = try rig()
        try register(rig)
        try bring(
            rig, record(Self.steps, 1), record(Self.heart, 60), record(Self.heart, 70, after: .seconds(600)))
        func found(_ during: [String: String], consumer: String = "steps") throws -> [Double] {
            try slice(rig, consumer: consumer, ["during": .object(during.mapValues { .string($0) })]).value.sorted()
        }
        let heartDuringSteps = [Self.heart: Self.steps]
        #expect(try found(heartDuringSteps) == [1, 60])
        try command(rig, ["command": "types", "set": [Self.steps: ["denied": true]]])
        #expect(try found(heartDuringSteps) == [])
        let onlyHeart = try slice(
            rig, ["types": ["include": [.string(Self.heart)]], "during": .object([Self.heart: .string(Self.steps)])])
        #expect(onlyHeart.isEmpty)
        // It looks like a type without samples; nothing else is hidden.
        #expect(try found([Self.heart: "HKNothing"]) == [])
        #expect(try found([:]) == [60, 70] && found([Self.steps: Self.heart]) == [60, 70])
        #expect(try found(heartDuringSteps, consumer: "client-1-2") == [1, 60])
        try command(rig, ["command": "types", "set": [Self.steps: ["denied": false]]])
        #expect(try found(heartDuringSteps) == [1, 60])
    }
}
