import Changelog
import HealthModel
import ObserverReading
import ObserverStage
import Protocol
import TestSupport
import Testing

/// What a slice's members reveal beyond the types that it returns.
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

    /// Samples of one type that are requested only for the times of a denied type don't reveal when the samples of the
    /// denied type were recorded.
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
        // A denied type looks like a type without samples; nothing else is hidden.
        #expect(try found([Self.heart: "HKNothing"]) == [])
        #expect(try found([:]) == [60, 70] && found([Self.steps: Self.heart]) == [60, 70])
        #expect(try found(heartDuringSteps, consumer: "client-1-2") == [1, 60])
        try command(rig, ["command": "types", "set": [Self.steps: ["denied": false]]])
        #expect(try found(heartDuringSteps) == [1, 60])
    }

    /// Nor do the answers about types, completeness and single samples say anything of a denied type.
    @Test func otherAnswersHideADeniedType() throws {
        let rig = try rig()
        try register(rig)
        try bring(rig, record(Self.steps, 1), record(Self.heart, 60))
        func pages(_ query: String, _ consumer: String, _ members: [String: Value] = [:]) throws -> [Value] {
            let request = try #require(request(query, consumer: consumer).object).merging(members) { $1 }
            var pages: [Value] = []
            try ObserverSource(database: rig.store.database, isShared: false)
                .answer(.object(request), head: rig.store.head) { page, _ in pages.append(.object(page)) }
            return pages
        }
        func types(_ query: String, _ consumer: String) throws -> Set<String> {
            Set(try pages(query, consumer).flatMap { $0["types"].array ?? [] }.compactMap { $0["type"].string })
        }
        let step = try #require(try slice(rig, ["types": ["include": [.string(Self.steps)]]]).ids.first)
        func isFound(_ consumer: String) throws -> Bool {
            try pages("sample", consumer, ["sample": .string(step.description)]).contains {
                $0["sample"].object != nil
            }
        }
        #expect(try types("types", "steps") == [Self.steps, Self.heart] && isFound("steps"))
        let complete = try types("completeness", "steps")
        #expect(complete.contains(Self.steps))
        try command(rig, ["command": "types", "set": [Self.steps: ["denied": true]]])
        #expect(try types("types", "steps") == [Self.heart])
        #expect(try types("completeness", "steps") == complete.subtracting([Self.steps]))
        #expect(try !isFound("steps"))
        #expect(try types("types", "client-1-2") == [Self.steps, Self.heart] && isFound("client-1-2"))
        #expect(try types("completeness", "client-1-2") == complete)
    }

    /// Activities are in the payloads of workouts. Reading them to evaluate a predicate adds no column that wasn't
    /// requested.
    @Test func aPredicateBringsNoDetails() throws {
        let rig = try rig()
        let start = Instant(seconds: 1_743_000_000)
        func workout(_ activity: String, _ number: Int64) -> Record {
            Record(
                type: HealthType.workoutIdentifier, start: start + .seconds(number * 600), value: .nan,
                unit: "", metadata: #"{"note":"\#(activity)"}"#, uuid: SampleID(high: 0x4000, low: UInt64(number)),
                payload: #"{"activity":"\#(activity)"}"#)
        }
        try bring(
            rig, workout("running", 1), workout("cycling", 2), workout("running", 3),
            Record(start: start, value: 9, metadata: #"{"note":"steps"}"#, uuid: SampleID(high: 0x4000, low: 9)))
        func found(_ members: [String: Value]) throws -> SamplePage {
            let page = try slice(rig, members.merging(["predicate": ["activities": ["running"]]]) { $1 })
            #expect(page.start == [600, 1800].map { (start + .seconds($0)).microseconds })
            return page
        }
        // The same as for any other predicate.
        let others: [[String: Value]] = [
            [:], ["detailed": []], ["detailed": [.string(Self.steps)]], ["payloads": [.string(Self.steps)]],
            ["detailed": ["exclude": [.string(HealthType.workoutIdentifier)]]],
        ]
        for members in others {
            let page = try found(members)
            #expect(page.payload.count == 0 && page.metadata.count == 0, "\(members)")
            #expect(page.created.isEmpty && page.healthKitUUID.isEmpty, "\(members)")
        }
        let workouts: Value = [.string(HealthType.workoutIdentifier)]
        let payloads = try found(["payloads": workouts])
        #expect(payloads.payload[1].contains("running") && payloads.metadata[1] == "")
        for detailed in [workouts, ["exclude": []]] {
            let page = try found(["detailed": detailed])
            #expect(page.payload[1].contains("running") && page.metadata[1].contains("running"))
            #expect(page.healthKitUUID == [1, 3].map { SampleID(high: 0x4000, low: $0) })
        }
    }
}
