import HealthModel
import HealthStore
import TestSupport
import Testing

/// Several channels send one workout, each with some of its members.
@Suite struct PayloadJoinTests {
    private static func workout(_ payload: String) -> Record {
        Record(
            type: HealthType.workoutIdentifier, start: 1_743_328_800, length: 1800, value: .nan, unit: "",
            payload: payload)
    }

    /// The payload that is stored after these have arrived in this order, each in a request of its own.
    private static func joined(_ payloads: [String]) throws -> String {
        let store = try StoreFixture()
        for payload in payloads { try store.add([workout(payload)]) }
        return try #require(store.changes().samples.rows(users: ["anna"]).first).payload
    }

    private static let export = """
        {"activity":"HKWorkoutActivityTypeRunning","durationSeconds":1790.5,"statistics":[\
        {"average":140.25,"maximum":171,"minimum":90,"type":"HKQuantityTypeIdentifierHeartRate","unit":"count/min"},\
        {"sum":5012.5,"type":"HKQuantityTypeIdentifierDistanceWalkingRunning","unit":"m"}]}
        """

    /// One long statistic doesn't take the place of the others.
    @Test func aPushErasesNothing() throws {
        let pushed = """
            {"activity":"HKWorkoutActivityTypeRunning","statistics":[{"sum":412.123456,"unit":"kcal",\
            "type":"HKQuantityTypeIdentifierActiveEnergyBurned","note":"\(String(repeating: "long", count: 200))"}]}
            """
        for payloads in [[Self.export, pushed], [pushed, Self.export], [Self.export, pushed, Self.export, pushed]] {
            let payload = try Value(json: Self.joined(payloads).utf8)
            let statistics = try #require(payload["statistics"].array)
            #expect(
                statistics.map { $0["type"].string } == [
                    "HKQuantityTypeIdentifierActiveEnergyBurned", "HKQuantityTypeIdentifierDistanceWalkingRunning",
                    "HKQuantityTypeIdentifierHeartRate",
                ])
            #expect(statistics.last?["average"] == 140.25 && statistics[1]["sum"] == 5012.5)
            #expect(payload["durationSeconds"] == 1790.5)
        }
    }

    /// Even if a member of the wrong shape has been stored by an earlier release.
    @Test(
        arguments: [
            "\"\(String(repeating: "x", count: 999))\"", "[\(String(repeating: "null,", count: 99))null]",
            #"{"sum":123456789.123456789,"type":"HKQuantityTypeIdentifierHeartRate"}"#, "12345678901234567890", "true",
        ])
    func theWrongShapeDisplacesNothing(_ wrong: String) throws {
        let pushed =
            #"{"activity":"HKWorkoutActivityTypeRunning","durationSeconds":"\#(wrong.count) very long minutes","#
            + #""statistics":\#(wrong)}"#
        for payloads in [[Self.export, pushed], [pushed, Self.export]] {
            #expect(
                try Value(json: Self.joined(payloads).utf8)["statistics"].array?.count == 2, "\(wrong.prefix(20))")
            #expect(try Value(json: Self.joined(payloads).utf8)["durationSeconds"] == 1790.5)
        }
    }

    @Test func whatBelongsTogetherIsJoinedOrKeptAsAWhole() throws {
        let first = """
            {"activities":[{"start":"2025-03-30T10:00:00Z","statistics":[{"sum":1,"type":"A","unit":"km"}]}],\
            "events":[{"date":"2025-03-30T10:05:00Z","type":"HKWorkoutEventTypePause"},\
            {"date":"2025-03-30T10:00:00Z","durationSeconds":300,"type":"HKWorkoutEventTypeSegment"}],\
            "routeSummary":{"distanceMeters":5000.25,"points":900},"temperature":{"qty":20,"units":"degC"}}
            """
        let second = """
            {"activities":[{"activity":"HKWorkoutActivityTypeRunning","start":"2025-03-30T10:00:00.250Z"},\
            {"start":"2025-03-30T10:20:00Z"}],\
            "events":[{"date":"2025-03-30T10:05:00.5Z","metadata":{"a":"1"},"type":"HKWorkoutEventTypePause"},\
            {"date":"2025-03-30T10:00:00Z","durationSeconds":480,"type":"HKWorkoutEventTypeSegment"}],\
            "routeSummary":{"distanceMeters":4000.123456789,"points":80},"temperature":{"qty":68.5,"units":"degF"}}
            """
        let joined = try Self.joined([first, second])
        #expect(try joined == Self.joined([second, first]))
        let payload = try Value(json: joined.utf8)
        let activities = try #require(payload["activities"].array)
        #expect(activities.count == 2 && activities[0]["activity"].string != nil)
        #expect(activities[0]["statistics"].array?.count == 1)
        #expect(activities[0]["start"] == "2025-03-30T10:00:00.250Z")
        let events = try #require(payload["events"].array)
        #expect(events.map { $0["durationSeconds"].double } == [300, 480, nil])
        #expect(events[2]["metadata"]["a"] == "1")
        #expect(payload["routeSummary"] == ["distanceMeters": 5000.25, "points": 900])
        #expect(payload["temperature"] == ["qty": 68.5, "units": "degF"])
    }

    // MARK: Any order

    private static func pick(_ texts: [String], _ random: inout SeededRandom) -> String {
        texts.randomElement(using: &random) ?? "null"
    }

    /// Some of these members, in any order, with or without spaces.
    private static func object(_ members: [String], _ random: inout SeededRandom) -> String {
        let some = members.shuffled(using: &random).filter { _ in Bool.random(using: &random) }
        return "{" + some.joined(separator: pick([",", " , "], &random)) + "}"
    }

    private static func list(_ random: inout SeededRandom, of element: (inout SeededRandom) -> String) -> String {
        if Int.random(in: 0..<9, using: &random) == 0 {
            return pick(["\"a text that is longer than most lists\"", #"{"a":1}"#, "[null]", "7"], &random)
        }
        return "[" + (0..<Int.random(in: 0...3, using: &random)).map { _ in element(&random) }.joined(separator: ",")
            + "]"
    }

    private static func number(_ random: inout SeededRandom) -> String {
        pick(["0", "5", "5.0", "5012", "5012.5", "1e3", "null", "\"x\"", "-3.25"], &random)
    }

    private static func statistic(_ random: inout SeededRandom) -> String {
        let types =
            ["HeartRate", "DistanceCycling"].map { "\"HKQuantityTypeIdentifier\($0)\"" } + ["\"Unknown\"", "5"]
        return object(
            [
                "\"type\":\(pick(types, &random))", "\"sum\":\(number(&random))", "\"average\":\(number(&random))",
                "\"unit\":\(pick(["\"m\"", "\"km\"", "\"count/min\"", "null"], &random))",
            ], &random)
    }

    private static func event(_ random: inout SeededRandom) -> String {
        object(
            [
                "\"type\":\"\(pick(["Pause", "Resume"], &random))\"", "\"durationSeconds\":\(number(&random))",
                "\"date\":\"2025-03-30T10:00:0\(pick(["0Z", "0.5Z", "1Z"], &random))\"",
                "\"metadata\":{\"a\":\(number(&random))}",
            ], &random)
    }

    private static func activity(_ random: inout SeededRandom) -> String {
        object(
            [
                "\"start\":\"2025-03-30T10:0\(pick(["0", "1"], &random)):00Z\"", "\"activity\":\"running\"",
                "\"statistics\":\(list(&random, of: statistic))", "\"events\":\(list(&random, of: event))",
                "\"durationSeconds\":\(number(&random))",
            ], &random)
    }

    private static func payload(_ random: inout SeededRandom) -> String {
        object(
            [
                #""activity":"HKWorkoutActivityTypeRunning""#, "\"durationSeconds\":\(number(&random))",
                "\"statistics\":\(list(&random, of: statistic))", "\"events\":\(list(&random, of: event))",
                "\"activities\":\(list(&random, of: activity))", "\"leftOut\":{\"x\":\(number(&random)),\"y\":\"1\"}",
                "\"routeSummary\":\(pick([#"{"points":3}"#, #"{"a":1,"points":3}"#, "{}", "\"long\""], &random))",
                "\"weather\":{\"qty\":\(number(&random)),\"units\":\"\(pick(["C", "F"], &random))\"}",
            ], &random)
    }

    /// The same bytes, whoever sends first, and however often.
    @Test func anyOrderGivesTheSameBytes() throws {
        for seed in 0..<60 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let payloads = (0..<Int.random(in: 2...5, using: &random)).map { _ in Self.payload(&random) }
            let first = try Self.joined(payloads)
            for _ in 0..<3 {
                let again = payloads.filter { _ in Bool.random(using: &random) }
                #expect(try Self.joined((payloads + again).shuffled(using: &random)) == first, "seed \(seed)")
            }
        }
    }

    @Test func theSameAgainChangesNothing() throws {
        let store = try StoreFixture()
        try store.add([Self.workout(Self.export)])
        try store.add([Self.workout(#"{"statistics":[{"sum":7,"type":"B"}]}"#)])
        let head = try store.head()
        try store.add([Self.workout(#"{ "statistics": [ {"type":"B", "sum":7} ] }"#)])
        try store.add([Self.workout(Self.export)])
        #expect(try store.head() == head)
    }

    /// Two statistics of one moment with the same value: their content decides, not which came first.
    @Test func equallyNewStatisticsDoNotDependOnArrival() throws {
        let type = HealthType.statistics(of: "HKQuantityTypeIdentifierHeartRate")
        let found = try [[#"{"maximum":80}"#, #"{"maximum":100}"#], [#"{"maximum":100}"#, #"{"maximum":80}"#]].map {
            let store = try StoreFixture()
            for payload in $0 {
                try store.add([
                    Record(type: type, length: 3600, value: 70, unit: "count/min", created: 5, payload: payload)
                ])
            }
            return try store.changes().samples.rows(users: ["anna"]).map(\.payload)
        }
        #expect(found == [[#"{"maximum":100}"#], [#"{"maximum":100}"#]])
    }
}
