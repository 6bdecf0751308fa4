import DeliveryKit
import HealthModel

/// What a script sends: few ids and versions, so that the same ones come again and again.
extension PostgresScript {
    /// Samples of four years, and two whose ids aren't made of a time.
    static let ids =
        (0..<6).map { (number: Int64) in
            SampleID(
                SampleKeyPrefix(user: "me", type: "t", sourceName: "s"),
                startSecond: 1_500_000_000 + number * 20_000_000, endSecond: 0, ordinal: 0)
        } + (1...2).map { SampleID(high: 0x1234_5678_9ABC_4DEF, low: 0x8000_0000_0000_0000 + $0) }

    private static let moments: [Int64] = [
        1_500_000_000_000_000, 1_500_000_000_250_001, 1_600_000_000_000_000, -5_000_000_000_000_000,
    ]

    func samples() -> DeliveryGroup {
        var page = SamplePage()
        page.types = ["HKQuantityTypeIdentifierHeartRate", "HKQuantityTypeIdentifierStepCount", ""]
        page.units = ["count/min", ""]
        page.origins = ["Anna’s Watch", "Uhr", "", "a\0b"].map { Origin(sourceName: $0) }
        var there: Set<String> = []
        for _ in 0..<pick(1...10) {
            let (id, version) = (one(of: Self.ids), Int64(pick(1...6)))
            let flags = one(of: [[], [], [], .manual, .manual, .deleted, [.manual, .deleted]] as [SampleFlags])
            // Which of two versions with the same number is kept isn't determined.
            guard there.insert("\(id) \(version) \(flags.contains(.deleted))").inserted else { continue }
            let start = pick(0...19) == 0 ? .max : one(of: Self.moments)
            if flags == .manual { outcomes.insert("manual") }
            page.ids.append(id)
            page.sequence.append(version)
            page.type.append(Int32(one(of: [0, 0, 0, 1, 2])))
            page.start.append(start)
            page.end.append(start &+ one(of: [0, 0, 5_000_000, 5_000_000, 5_000_000, -1_000_000]))
            page.value.append(one(of: [60, 61.5, 0, -0.0, .nan, 1e-7]))
            page.origin.append(Int32(one(of: [0, 0, 0, 1, 1, 2, 3])))
            page.flags.append(flags)
            page.unit.append(Int32(pick(0...1)))
            page.created.append(0)
            page.healthKitUUID.append(one(of: [nil, nil, SampleID(high: 7, low: UInt64(version))]))
            page.metadata.append(
                one(of: ["", "{}", #"{"a":1,"b":null}"#, #"{"a":1.0}"#, #"{"a":2}"#, #"{"a":"x\u0000"}"#]))
            page.payload.append(one(of: ["", "", #"{"c":null}"#, #"[1,null,{"b":null}]"#, #"{"s":"\ud83d"}"#]))
        }
        return group(.other, .samples(page), count: page.count)
    }

    func documents() -> DeliveryGroup {
        let list = one(of: [HeldList.days, .nights, .workouts])
        let ids =
            list == .days
            ? ["2025-03-30", "2025-03-31", "2024-02-29", "today", ""]
            : [Self.ids[0].description, Self.ids[1].description, "night-1", "é", "a\0b"]
        let bodies: [Value?] = [
            nil, ["date": "2025-03-30", "start": "2025-03-29T22:00:00Z", "end": "2025-03-30T06:00:00.25Z", "steps": 7],
            ["startDate": "2025-03-30T06:00:00+02:00", "steps": 7.5, "hours": [1, 2.5, .null]],
            ["steps": 7, "none": .null], ["steps": 7], ["date": "2025-04-01", "endDate": "?", "deep": ["a": .null]],
            [:], ["note": "x\0"],
        ]
        var there: Set<String> = []
        var all: [DeliveryGroup.Document] = []
        for _ in 0..<pick(1...8) {
            let document = DeliveryGroup.Document(id: one(of: ids), version: Int64(pick(1...6)), body: one(of: bodies))
            guard there.insert("\(document.id) \(document.version) \(document.body == nil)").inserted else { continue }
            all.append(document)
        }
        return switch list {
        case .nights: group(.sleep, .nights(all), count: all.count)
        case .workouts: group(.workouts, .workouts(all), count: all.count)
        case .days, .samples: group(.daily, .days(all), count: all.count)
        }
    }

    private func group(_ metric: DeliveryMetric, _ content: DeliveryGroup.Content, count: Int) -> DeliveryGroup {
        DeliveryGroup(
            metric: metric, user: one(of: Self.users), content: content, batch: DeliveryBatch(count: count))
    }
}
