import HealthModel
import HealthPush
import Testing

/// What every way in promises.
struct WayInTests {
    private static let sample = #"{"type":"HKQuantityTypeIdentifierStepCount","start":0,"end":60,"value":7}"#
    private static let metric =
        #"{"name":"step_count","units":"count","data":[{"start":"2025-03-26 10:00:00 +0100","end":"2025-03-26 10:01:00 +0100","qty":7}]}"#

    /// These names are on the bus, in stores and in the settings of phones.
    @Test func theirPathsStay() {
        #expect(
            WayIn.all.map(\.path) == [
                "/v1/samples", "/v1/health-auto-export", "/v1/life-dashboard/{phone}",
                "/api/v1/sdk/users/{user}/sync", "/v1/lines", "/api/v1/ingest/", "/api/apple-health/sync",
            ])
        #expect(WayIn.apps.map(\.name) == ["health-auto-export", "life-dashboard", "open-wearables", "shortcut"])
    }

    /// What makes another one safe to add.
    @Test func eachIsItsOwn() {
        let ways = WayIn.all
        for names in [ways.map(\.path), ways.compactMap { $0.pairing?.name }] {
            #expect(Set(names).count == names.count)
        }
        for way in ways {
            #expect(way.path.hasPrefix("/") && WayIn.named(way.path)?.path == way.path)
            #expect(!way.types.isEmpty && way.types.allSatisfy { $0 == $0.lowercased() } && !way.names.isEmpty)
            #expect(way.members.isEmpty != way.types.contains("application/json"))
            #expect((200...299).contains(way.status))
            #expect((1...250_000).contains(way.items))
            // An item of nobody's.
            for raw in ["", "7", "<Record/>", "{\"hologram\":"] { #expect(way.records(in: raw) == nil, "\(way.path)") }
        }
    }

    /// As releases before stored it: items of pushes have the path as their source, those of files the file's.
    @Test(arguments: [
        ("/v1/samples", sample, "/v1/samples"), ("/v1/samples", "{\"hologram\":[1]}", "/v1/samples"),
        ("/v1/health-auto-export", metric, "/v1/health-auto-export"),
        ("/v1/health-auto-export", "7", "/v1/health-auto-export"),
        ("/home/anna/HealthAutoExport-2025.json", metric, "/v1/health-auto-export"),
        ("/home/anna/export.xml", "<Record type=\"x\"/>", nil), ("/v1/events", "", nil),
    ])
    func anItemInQuarantineIsOfTheWayThatBroughtIt(source: String, raw: String, way: String?) {
        #expect(WayIn.of(item: raw, from: source)?.path == way)
    }

    @Test func anItemIsReadAgainByItsOwnWayOnly() {
        let (samples, app) = (WayIn.samples, WayIn.healthAutoExport)
        #expect(samples.records(in: Self.sample)?.value == [7] && app.records(in: Self.metric)?.value == [7])
        for raw in [Self.metric, "7", "", "{\"type\": \"cut off…", "<Record/>"] {
            #expect(samples.records(in: raw) == nil)
        }
        for raw in [Self.sample, "7", "", "{\"workouts\":[{\"na…", "<Record/>"] { #expect(app.records(in: raw) == nil) }
    }

    /// Items beyond the limit are counted, so that the error is about all of them, but not kept.
    @Test func tooManyItemsRefuseTheRequest() {
        let many = [String](repeating: "1", count: 250_001)
        for (way, type, body) in [
            (WayIn.samples, "application/json", "{\"deleted\":[\(many.joined(separator: ","))]}"),
            (.samples, "application/jsonl", many.joined(separator: "\n")),
            (.healthAutoExport, "application/json", "{\"data\":{\"symptoms\":[\(many.joined(separator: ","))]}}"),
            (.freeReps, "application/json", "{\"data\":{\"audiograms\":[\(many.joined(separator: ","))]}}"),
            (.healthykit, "application/json", "{\"metrics\":[\(many.joined(separator: ","))]}"),
        ] {
            #expect(throws: PushError("the body has more than 250000 items", isTooLarge: true)) {
                try way.changes(in: Array(body.utf8), type: type, now: testNow)
            }
        }
    }
}
