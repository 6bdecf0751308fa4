import DeliveryKit
import HealthModel
import Protocol
import Simulation
import StageKit
import TestSupport
import Testing
import UploaderStage

/// The simulated backend says what it keeps, like the reference backend.
struct FakeBackendTests {
    private func upload(_ content: DeliveryGroup.Content, _ metric: DeliveryMetric, count: Int) -> DeliveryRequest {
        DeliveryRequest(
            group: DeliveryGroup(metric: metric, user: "me", content: content, batch: DeliveryBatch(count: count)),
            part: 0..<count, deviceId: "d", syncedAt: 0, refreshToken: false)
    }

    private func rows(_ backend: FakeBackend, _ list: HeldList, after: SampleID? = nil) throws -> [HeldPage.Row] {
        var question = HeldQuestion(list: list, user: "me", after: after, limit: 2)
        var rows: [HeldPage.Row] = []
        while true {
            let reply = backend.versions(question).result(of: Effect(id: 1, request: question))
            guard case .page(let page) = try #require(reply.value as? HeldReply) else { return rows }
            #expect(page.rows.count <= 2 && page.generation == "generation-1")
            rows += page.rows
            guard let next = page.next else { return rows }
            question.cursor = next
        }
    }

    @Test func whatItKeeps() throws {
        var backend = FakeBackend()
        var page = SamplePage()
        page.types = ["HKQuantityTypeIdentifierHeartRate"]
        page.origins = [Origin(sourceName: "Watch")]
        for number in 1...5 {
            page.ids.append(SampleID(high: UInt64(6 - number), low: 7))
            page.sequence.append(Int64(10 + number))
            page.type.append(0)
            page.start.append(1_500_000_000_000_001)
            page.end.append(1_500_000_001_000_000)
            page.value.append(60.5)
            page.origin.append(0)
            page.flags.append(number == 2 ? [.deleted] : [])
        }
        _ = try backend.take(upload(.samples(page), .other, count: 5))
        let content = ContentNumber.sample(
            type: ContentNumber.text(page.types[0]), start: page.startOf(0), end: page.endOf(0), value: 60.5,
            source: ContentNumber.text("Watch"))
        let expected = (1...5).reversed().map { (number: Int) -> HeldPage.Row in
            HeldPage.Row(
                id: page.ids[number - 1],
                held: number == 2
                    ? .init(version: 12, isDeleted: true)
                    : .init(version: Int64(10 + number), isDeleted: false, content: content))
        }
        #expect(try rows(backend, .samples) == expected)
        #expect(try rows(backend, .samples, after: expected[2].id) == Array(expected[3...]))
        let day: Value = ["date": "2025-03-30", "steps": 7]
        _ = try backend.take(
            upload(.days([.init(id: "2025-03-30", version: 3, body: day)]), .daily, count: 1))
        let delivered = try #require(DeliveryDocument.versioned(day, 3))
        #expect(
            try rows(backend, .days) == [
                .init(
                    named: "2025-03-30",
                    held: .init(
                        version: 3, isDeleted: false, content: ContentNumber.document(json: delivered.json().utf8)))
            ])
    }
}
