import Configuration
import HTTP
import HealthModel
import HealthPush
import Testing

/// A phone that signs its requests, from the first sync on.
struct LifeDashboardDoorTests {
    private let rig: IngestRig

    init() throws { rig = try IngestRig() }

    private func push(_ members: String) throws -> Value {
        let answer = try rig.push(#"{"source":"healthkit_ios",\#(members)}"#, by: .lifeDashboard)
        #expect(answer.status == 200, "\(answer.text)")
        return try Value(json: answer.body)
    }

    /// The samples there are, by type.
    private func values() throws -> [String: [Double]] {
        let page = try rig.page()
        return Dictionary(grouping: page.ids.indices) {
            String(page.typeName($0).split(separator: "Identifier").last ?? "")
        }
        .mapValues { $0.map { page.value[$0] }.sorted() }
    }

    private static func id(_ number: Int) -> String { "00000000-0000-4000-8000-00000000000\(number)" }

    private static func record(_ id: Int, _ members: String, at hour: Int = 8) -> String {
        #"{"uuid":"\#(Self.id(id))","source":"Watch","start_time":"2025-03-20T0\#(hour):00:00Z","#
            + #""end_time":"2025-03-20T0\#(hour):10:00Z",\#(members)}"#
    }

    private static func reading(_ id: Int, _ members: String) -> String {
        #"{"uuid":"\#(Self.id(id))","source":"Watch","time":"2025-03-20T08:00:00Z",\#(members)}"#
    }

    @Test(arguments: [
        nil, "", "sha256=", "sha256=00", "sha1=" + String(repeating: "0", count: 64),
        "sha256=" + String(repeating: "0", count: 64),
    ])
    func whoDoesNotSignIsNotLetIn(signature: String?) throws {
        let answer = try rig.send(
            "POST", "/v1/life-dashboard/good", body: "{}", token: nil,
            headers: signature.map { ["X-Signature": $0] } ?? [:])
        #expect(answer.status == 401)
        // The answer is the same whatever is wrong, and the log says it.
        #expect(answer.text.contains("the request isn't from a paired phone"))
        #expect(rig.noticed == [signature == nil ? "it isn't signed" : "its signature is wrong"])
    }

    @Test func anotherPhonesAddressOrBodyIsRefused() throws {
        let body = #"{"source":"healthkit_ios"}"#
        let signature = "sha256=" + BodySignature(of: Array(body.utf8), key: "good").hexadecimal
        func status(_ path: String, _ body: String) throws -> Int {
            try rig.send("POST", path, body: body, token: nil, headers: ["X-Signature": signature]).status
        }
        #expect(try status("/v1/life-dashboard/good", body) == 200)
        #expect(try status("/v1/life-dashboard/good", body + " ") == 401)
        #expect(try status("/v1/life-dashboard/owner", body) == 401)
        #expect(try status("/v1/life-dashboard/nobody", body) == 401)
        #expect(try status("/v1/life-dashboard/revoked", body) == 401)
        #expect(rig.noticed.suffix(2) == ["no phone with that address is paired", "its pairing was revoked"])
        // Its secret is no token.
        #expect(try rig.send("POST", "/v1/life-dashboard/good", body: body, token: "good").status == 401)
    }

    @Test func aRepeatChangesNothingAndADeletionStays() throws {
        let first = #""steps":[\#(Self.record(1, #""count":120"#))]"#
        #expect(try push(first)["added"] == 1)
        #expect(try push(first)["known"] == 1)
        #expect(try push(#""deleted_records":[{"type":"steps","uuid":"\#(Self.id(1))"}]"#)["deleted"] == 1)
        #expect(try values()["StepCount"] == nil)
        // A payload that waited on the phone comes late.
        #expect(try push(first)["deleted"] == 1)
        // So does one that is deleted before it was ever here.
        #expect(try push(#""deleted_records":[{"type":"steps","uuid":"\#(Self.id(2))"}]"#)["unknown"] == 1)
        _ = try push(#""steps":[\#(Self.record(2, #""count":7"#))]"#)
        #expect(try values()["StepCount"] == nil)
    }

    @Test(arguments: [false, true]) func theExactSampleStays(coarseFirst: Bool) throws {
        let sent = #""heart_rate":[\#(Self.reading(1, #""bpm":72"#))]"#
        let exact =
            #"{"type":"HKQuantityTypeIdentifierHeartRate","start":"2025-03-20T08:00:00Z","#
            + #""end":"2025-03-20T08:00:05Z","value":71.6,"unit":"count/min","source":"Watch"}"#
        for isCoarse in [coarseFirst, !coarseFirst, true, false] {
            if isCoarse { _ = try push(sent) } else { _ = try rig.post([exact]) }
        }
        let page = try rig.page()
        #expect(try values() == ["HeartRate": [71.6]])
        #expect(page.healthKitUUID.compactMap { $0?.description.lowercased() } == [Self.id(1)])
        // The deletion reaches it by the id that only the phone knew.
        _ = try push(#""deleted_records":[{"type":"heart_rate","uuid":"\#(Self.id(1))"}]"#)
        #expect(try values() == [:])
    }

    /// Whether the total or the active energy comes first, in one payload or in several.
    @Test(arguments: [[0, 1], [1, 0], [2]]) func energyCountsOnce(order: [Int]) throws {
        let (active, total) = (
            #""active_calories":[\#(Self.record(1, #""calories":10"#))]"#,
            #""total_calories":[\#(Self.record(1, #""calories":10"#)),\#(Self.record(2, #""calories":6"#))]"#
        )
        for part in order { _ = try push([active, total, active + "," + total][part]) }
        _ = try push(total)
        let found = try values()
        #expect(found["ActiveEnergyBurned"] == [10] && found.count == 2, "\(found)")
        #expect(found["BasalEnergyBurned"] == [6], "\(found)")
    }

    @Test func withoutActiveEnergyNobodyKnowsWhatTheTotalIs() throws {
        _ = try push(#""total_calories":[\#(Self.record(1, #""calories":10"#))]"#)
        #expect(try values() == ["TotalEnergyBurned": [10]])
    }

    @Test(arguments: [false, true]) func anIdStandsForAllOfAFood(deletedFirst: Bool) throws {
        let food =
            #""nutrition":[\#(Self.record(1, #""calories":450,"fat_grams":7,"sodium_mg":180"#))],"#
            + #""blood_pressure":[\#(Self.reading(2, #""systolic":121,"diastolic":79"#))]"#
        let deletion =
            #""deleted_records":[{"type":"nutrition","uuid":"\#(Self.id(1))"},"#
            + #"{"type":"blood_pressure","uuid":"\#(Self.id(2))"}]"#
        if deletedFirst { _ = try push(deletion) }
        _ = try push(food)
        if !deletedFirst {
            #expect(try values().count == 7)
            _ = try push(deletion)
        }
        #expect(try values() == [:])
        _ = try push(food)
        #expect(try values() == [:])
    }
}
