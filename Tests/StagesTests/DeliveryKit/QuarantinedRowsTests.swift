import Changelog
import DeliveryKit
import HealthModel
import MessageBus
import Protocol
import Simulation
import StageKit
import TestSupport
import Testing
import UploaderStage

/// Rows that are kept but not delivered: the counts cover exactly the rows that are sent.
@Suite struct QuarantinedRowsTests {
    private func page(_ flags: [SampleFlags]) -> SamplePage {
        var page = SamplePage()
        page.types = ["steps"]
        page.units = ["count"]
        page.origins = [Origin(sourceName: "Watch", sourceVersion: "1", productType: "", device: "")]
        page.ids = flags.indices.map { SampleID(high: 1, low: UInt64($0)) }
        page.sequence = flags.indices.map { Int64($0) + 1 }
        page.type = flags.map { _ in 0 }
        page.start = flags.map { _ in 1_742_300_000_000_000 }
        page.end = flags.map { _ in 1_742_300_060_000_000 }
        page.value = flags.map { _ in 42 }
        page.origin = flags.map { _ in 0 }
        page.flags = flags
        page.unit = flags.map { _ in 0 }
        page.created = flags.map { _ in 1_742_300_100 }
        return page
    }

    /// - Returns: the number of requests for a page; the backend answers that it created each element.
    private func send(_ flags: [SampleFlags]) throws -> (requests: Int, report: StageReport) {
        let rig = try StageRig {
            DeliveryStage(
                observer: "observer", handlers: [], consolidator: nil, policy: RetryPolicy(base: 1, cap: 8),
                generator: SeededRandom(seed: 5), instance: "uploader", family: { DeliveryMetric(family: $0) })
        }
        var backend = FakeBackend()
        try rig.hear("sync.uploader", ["head": Value(head(10)), "released": 10])
        let pull = try #require(rig.pulls.first { $0.name == "samples" })
        try rig.answer(
            pull,
            .pages([
                [
                    "samples": page(flags).wireValue, "users": ["me"],
                    "user": .column(.int32(flags.map { _ in 0 })), "from": 0, "through": 10,
                    "head": Value(head(10)),
                ]
            ]))
        var requests = 0
        while let effect = rig.effects.first(where: { $0.request is DeliveryRequest }), requests < 20 {
            requests += 1
            try rig.reply(effect, try backend.take(try #require(effect.request as? DeliveryRequest)))
        }
        return (requests, try rig.report())
    }

    @Test func aRequestWithoutElementsIsNotSent() throws {
        let (requests, report) = try send([.quarantined, .quarantined])
        #expect(requests == 0 && report.frontier["observer"] == 10 && report.details["delivered"] == [:])
    }

    @Test func onlyWhatIsSentIsCounted() throws {
        let (requests, report) = try send([[], .quarantined, .deleted, [.deleted, .quarantined]])
        #expect(requests == 1 && report.frontier["observer"] == 10 && report.details["delivered"] == ["steps": 3])
        #expect(report.details["blocked"]?.isNull == true)
    }
}
