import Changelog
import HealthModel
import HealthPush
import HealthStore
import ObserverStage
import Protocol
import StageKit
import TestSupport
import Testing

/// Pushed items that weren't understood are read again, completely, under the current rules.
@Suite struct PushedRetryTests {
    private static let sample =
        #"{"type":"HKQuantityTypeIdentifierStepCount","start":1742900000,"end":1742900060,"value":7,"source":"Watch"}"#
    private static let entry =
        #"{"start":"2025-03-26 10:00:01 +0100","end":"2025-03-26 10:00:31 +0100","qty":9,"source":"Watch"}"#

    private func rig() throws -> StageRig<RepairStage> {
        try StageRig {
            RepairStage(
                ObserverStage(instance: "observer", zone: "Europe/Berlin", defaultUser: "me"), instance: "observer")
        }
    }

    /// Puts inputs into the quarantine, as the ingest does.
    private func keepApart(_ rig: StageRig<RepairStage>, _ way: WayIn, _ raws: [String]) throws {
        var part = IngestPart(id: "r-\(way.path)", number: 0, user: "anna", device: "phone", way: way.path)
        part.isLast = true
        part.quarantined = raws.enumerated().map { QuarantinedInput(line: Int64($0 + 1), reason: "unknown", raw: $1) }
        try rig.hear(IngestPart.topic("observer"), part.body)
    }

    @Test func theyBecomeSamples() throws {
        let rig = try rig()
        try keepApart(rig, .samples, [Self.sample, #"{"type": 7}"#, "true", "{\"type\": \"cut off…"])
        try keepApart(
            rig, .healthAutoExport,
            [
                #"{"name":"step_count","units":"count","data":[\#(Self.entry)],"aggregation":"none"}"#,
                #"{"name":"heart_rate","units":"bpm","data":[{"date":"2025-03-26 10:00:00 +0100","Min":50,"Avg":60,"Max":70}],"aggregation":"Hours"}"#,
                #"{"workouts":[{"name":"Run","start":"2025-03-26 10:00:00 +0100","end":"2025-03-26 10:30:00 +0100"}]}"#,
                #"{"hologram":[1]}"#,
            ])
        try rig.hear("control.observer", .object(RepairRequest(id: "m1", action: "retry").body))
        for _ in 0..<10 {
            try rig.turn()
            guard let effect = rig.effects.first(where: { $0.request is RereadRequest }) else { continue }
            try rig.reply(effect, RereadReply(try #require(effect.request as? RereadRequest)))
        }
        let reader = try HealthStoreReader(database: rig.store.database)
        let page = try reader.anchored(TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: .beginning)))
        let types = page.samples.ids.indices.map { page.samples.typeName($0) }.sorted()
        #expect(
            types == [
                "HKQuantityTypeIdentifierHeartRate.statistics", "HKQuantityTypeIdentifierStepCount",
                "HKQuantityTypeIdentifierStepCount", "HKWorkoutTypeIdentifier",
            ])
        #expect(try reader.quarantineCount() == 4)
        // A statistic without a report time yields to any other.
        let heart = try #require(page.samples.ids.indices.first { page.samples.typeName($0).hasSuffix(".statistics") })
        #expect(page.samples.created[heart] == 0 && page.samples.value[heart] == 60)
    }

    /// Anything the decoder quarantines is read again.
    @Test func itemsAreKeptSoThatTheyCanBeReadAgain() throws {
        let body =
            #"{"data":{"metrics":[{"name":"step_count","units":"furlong","data":[\#(Self.entry)]}],"#
            + #""symptoms":[{"name":"No Such","start":"2025-03-26 10:00:00 +0100"}]}}"#
        let changes = try HealthAutoExport.changes(
            in: Array(body.utf8), aggregation: "none", now: Instant(seconds: 1_743_000_000))
        #expect(changes.quarantined.count == 2)
        for input in changes.quarantined { #expect(WayIn.healthAutoExport.records(in: input.raw) == nil) }
        let repaired = changes.quarantined[0].raw.replacing("furlong", with: "count")
        let records = try #require(WayIn.healthAutoExport.records(in: repaired))
        #expect(records.types == ["HKQuantityTypeIdentifierStepCount"] && records.value == [9])
        let known = changes.quarantined[1].raw.replacing("No Such", with: "Headache")
        #expect(WayIn.healthAutoExport.records(in: known)?.types == ["HKCategoryTypeIdentifierHeadache"])
    }
}
