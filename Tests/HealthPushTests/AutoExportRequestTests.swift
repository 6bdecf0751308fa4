import HealthModel
import HealthPush
import Testing

struct AutoExportRequestTests {
    @Test(arguments: ["", "{", #"{"data": {}"#, #"{"data": {"metrics":[}}"#, "nonsense", #"{"data":{}} x"#])
    func aBodyThatIsNoJSONIsRefusedAsAWhole(body: String) {
        let error = #expect(throws: PushError.self) {
            try HealthAutoExport.changes(in: Array(body.utf8), aggregation: nil, now: testNow)
        }
        #expect(error?.description.hasPrefix("the body isn't JSON: malformed JSON at byte") == true)
    }

    @Test(arguments: ["{}", "[]", "7", #"{"data":[]}"#, #"{"data":null}"#, #"{"Data":{}}"#])
    func aBodyWithoutDataIsRefused(body: String) {
        let error = #expect(throws: PushError.self) {
            try HealthAutoExport.changes(in: Array(body.utf8), aggregation: nil, now: testNow)
        }
        #expect(error?.description.contains("no object 'data'") == true)
    }

    /// Each of these few bytes would become a stored item with its own text.
    @Test(arguments: [(#""metrics":[{"name":"x","data":["#, "]}]"), (#""workouts":["#, "]"), (#""audiograms":["#, "]")])
    func moreItemsThanAreTakenAtOnceAreRefused(start: String, end: String) throws {
        let many = [String](repeating: "0", count: 250_001).joined(separator: ",")
        let error = #expect(throws: PushError.self) { _ = try pushed(start + many + end) }
        #expect(error == PushError("the body has more than 250000 items", isTooLarge: true))
    }

    @Test func bytesThatAreNoTextAreRefused() {
        #expect(throws: PushError.self) {
            try HealthAutoExport.changes(in: [0x7B, 0xFF, 0x7D], aggregation: nil, now: testNow)
        }
    }

    @Test(arguments: [
        "", #""metrics":[]"#, #""metrics":null,"workouts":null"#, #""workouts":[ ],"audiograms":[],"x":{ }"#,
        #""metrics":[{"name":"step_count","units":"count","data":[]},{"name":"new_metric","data":null}]"#,
    ])
    func nothingIsNothing(data: String) throws {
        let changes = try pushed(data)
        #expect(changes.items == 0 && changes.rows.isEmpty && changes.quarantined.isEmpty)
    }

    @Test func unknownPartsAndMetricsAreKeptItemByItem() throws {
        let body =
            #"{"data":{"audiograms":[{"x":1},2],"metrics":[{"data":[{"qty":1},{"qty":2}],"units":"q","name":"new"},"#
            + #"{"units":"count","data":[]},{"name":"step_count","data":{}},3],"visions":{"y":"ß"},"#
            + #""workouts":{"z":1}},"extra":[true]}"#
        let changes = try HealthAutoExport.changes(in: Array(body.utf8), aggregation: nil, now: testNow)
        #expect(changes.items == 10 && changes.rows.isEmpty)
        #expect(changes.quarantined.map(\.line) == Array(1...10))
        #expect(
            changes.quarantined.map(\.raw) == [
                #"{"audiograms":[{"x":1}]}"#, #"{"audiograms":[2]}"#, #"{"name":"new","units":"q","data":[{"qty":1}]}"#,
                #"{"name":"new","units":"q","data":[{"qty":2}]}"#, #"{"units":"count","data":[]}"#,
                #"{"name":"step_count","data":{}}"#, "3", #"{"visions":[{"y":"ß"}]}"#, #"{"workouts":[{"z":1}]}"#,
                #"{"extra":[true]}"#,
            ])
    }

    @Test func aMetricWithoutDataIsKeptApart() throws {
        let changes = try pushed(#""metrics":[{"name":"step_count","qty":5},{"name":"step_count","data":null}]"#)
        #expect(changes.items == 1 && changes.reasons == ["the metric has no data"])
        #expect(changes.quarantined[0].raw == #"{"name":"step_count","qty":5}"#)
    }

    /// Without this limit, a few bytes per entry would turn into kilobytes of stored data.
    @Test func aLongNameIsNotKeptWithEachEntry() throws {
        let changes = try pushed(metric: String(repeating: "n", count: 5000), "x", "1,2,3")
        #expect(changes.quarantined.map(\.raw) == (1...3).map { #"{"name":"too long","units":"x","data":[\#($0)]}"# })
    }

    @Test func oneBadItemFailsNoOther() throws {
        let date = #""date":"2026-09-01 10:20:30 +0200""#
        let changes = try pushed(
            #""metrics":[{"name":"body_temperature","units":"degC","data":[{"qty":36.5,\#(date)},{"qty":null,\#(date)},[],"#
                + #"{"qty":"warm",\#(date)},{"qty":36.5},{"qty":1e400,\#(date)},{"qty":36.6,\#(date)}]},"#
                + #"{"name":"active_energy","units":"stone","data":[{"qty":1,\#(date)}]},"#
                + #"{"name":"active_energy","data":[{"qty":1,\#(date)}]},"#
                + #"{"name":"heart_rate","units":"bpm","data":[{"Min":-5,"Avg":60,"Max":70,\#(date)}]}]"#)
        #expect(changes.items == 10 && changes.rows.map(\.value) == [36.5, 36.6])
        #expect(changes.quarantined.map(\.line) == [2, 3, 4, 5, 6, 8, 9, 10])
        #expect(changes.reasons.last == "the minimum is impossible")
    }

    @Test func whatIsKeptApartIsAtMostFourKilobytesAndWholeCharacters() throws {
        for length in 4000...4100 {
            let changes = try pushed(#""workouts":["\#(String(repeating: "€", count: length / 3))\#(length)"]"#)
            let raw = changes.quarantined[0].raw
            #expect(raw.utf8.count <= 4096 && !raw.unicodeScalars.contains("\u{FFFD}"))
        }
    }

    @Test func theOrderOfMembersDoesNotMatter() throws {
        let a = try pushed(
            metric: "heart_rate", "bpm",
            #"{"Min":50,"Avg":60.25,"Max":70,"source":"W","x":{"b":1,"a":[2]},"date":"2026-09-01 10:00:00 +0200"}"#)
        let b = try pushed(
            #""metrics":[{"data":[{"date":"2026-09-01 10:00:00 +0200","x":{ "a": [2], "b": 1 },"source":"W","Max":70.0,"#
                + #""Avg":60.25,"Min":50}],"name":"heart_rate","units":"bpm"}]"#)
        #expect(a.rows == b.rows && a.rows.count == 1)
    }
}
