import DeliveryKit
import HTTP
import HealthModel
import TestSupport
import Testing
import UploaderReading

struct UploadEncodingTests {
    static func page(rows: Int) -> SamplePage {
        var page = SamplePage()
        page.types = ["HKQuantityTypeIdentifierHeartRate", "HKQuantityTypeIdentifierStepCount"]
        page.units = ["count/min", "count"]
        page.origins = [Origin(sourceName: "Anna’s \"Watch\""), Origin(sourceName: "iPhone")]
        for row in 0..<rows {
            page.ids.append(SampleID(high: UInt64(row) << 40 | 0x8ABC, low: 0x8000_0000_0000_0000 | UInt64(row)))
            page.sequence.append(Int64(row + 1))
            page.type.append(Int32(row % 2))
            page.unit.append(Int32(row % 2))
            page.origin.append(Int32(row % 2))
            page.start.append(1_743_322_500_000_000 + Int64(row) * 60_000_000)
            page.end.append(1_743_322_500_500_000 + Int64(row) * 60_000_000)
            page.value.append(row % 3 == 0 ? 61 + Double(row) / 13 : Double(row) / 4)
            page.flags.append([])
            page.created.append(0)
            page.metadata.append(row % 2 == 0 ? #"{"HKMetadataKeyHeartRateMotionContext":1}"# : "")
            page.payload.appendEmpty()
            page.healthKitUUID.append(row % 4 == 0 ? SampleID(high: 1, low: UInt64(row)) : nil)
        }
        return page
    }

    private func body(_ page: SamplePage, _ rows: [Int]) throws -> Value {
        var out: [UInt8] = []
        UploadEncoding.samples(
            page: page, rows: rows, user: "anna", deviceId: "phone", syncedAt: 1_743_322_500_000_000, into: &out)
        return try Value(json: out)
    }

    @Test func everyMember() throws {
        var page = Self.page(rows: 3)
        page.value[2] = .nan
        page.flags[2] = .manual
        let body = try body(page, [0, 1, 2])
        #expect(body["userId"] == "anna")
        #expect(body["deviceId"] == "phone")
        #expect(body["syncedAt"] == "2025-03-30T08:15:00Z")
        #expect(body["deleted"] == [])
        let samples = try #require(body["samples"].array)
        #expect(
            samples[0] == [
                "id": .string(page.ids[0].description), "healthkitUUID": "00000000-0000-0001-0000-000000000000",
                "version": 1, "type": "HKQuantityTypeIdentifierHeartRate", "startDate": "2025-03-30T08:15:00Z",
                "endDate": "2025-03-30T08:15:00.5Z", "value": 61, "unit": "count/min", "source": "Anna’s \"Watch\"",
                "sourceType": "healthkit", "metadata": ["HKMetadataKeyHeartRateMotionContext": 1],
            ])
        #expect(samples[1]["healthkitUUID"] == .null)
        #expect(samples[1]["metadata"] == .null)
        #expect(samples[1]["value"].double == 0.25)
        #expect(samples[2]["value"] == .null)
        #expect(samples[2]["sourceType"] == "manual")
    }

    @Test func tombstonesGoUnderDeletedAndQuarantinedNowhere() throws {
        var page = Self.page(rows: 4)
        page.flags[1] = .deleted
        page.flags[2] = .quarantined
        var out: [UInt8] = []
        let count = UploadEncoding.samples(page: page, rows: 0..<4, user: "a", deviceId: "d", syncedAt: 0, into: &out)
        #expect(count == 3)
        let body = try Value(json: out)
        #expect(body["samples"].array?.map { $0["version"] } == [1, 4])
        #expect(body["deleted"] == [["id": .string(page.ids[1].description), "version": 2]])
    }

    @Test func columnsThatAreNotThereAreNull() throws {
        var page = Self.page(rows: 1)
        page.unit = []
        page.metadata = TextColumn()
        page.payload = TextColumn()
        page.healthKitUUID = []
        let sample = try #require(try body(page, [0])["samples"].array?.first)
        #expect(sample["unit"] == .null)
        #expect(sample["metadata"] == .null)
        #expect(sample.object?["payload"] == nil)
    }

    @Test func payloadIsSentWhereThereIsOne() throws {
        var page = Self.page(rows: 1)
        page.payload = TextColumn()
        page.payload.append(#"{"beats":[1,2]}"#)
        #expect(try body(page, [0])["samples"].array?.first?["payload"] == ["beats": [1, 2]])
    }

    @Test func documents() throws {
        func encoded(_ list: HeldList, _ documents: DeliveryGroup.Document...) throws -> Value {
            var out: [UInt8] = []
            UploadEncoding.documents(list, documents, user: "a", deviceId: "d", syncedAt: 0, into: &out)
            return try Value(json: out)
        }
        let workouts = try encoded(
            .workouts, .init(id: "w", version: 3, body: ["id": "w", "distance": .null]),
            .init(id: "x", version: 4, body: nil))
        #expect(workouts["deviceId"] == "d" && workouts["syncedAt"] == "1970-01-01T00:00:00Z")
        #expect(workouts["workouts"] == [["id": "w", "version": 3, "distance": .null]])
        #expect(workouts["deleted"] == [["id": "x", "version": 4]])
        let days = try encoded(.days, .init(id: "2025-03-30", version: 1, body: ["date": "2025-03-30"]))
        #expect(days["days"] == [["date": "2025-03-30", "version": 1]] && days["deleted"] == [])
        let nights = try encoded(.nights, .init(id: "n", version: 1, body: ["id": "n"]))
        #expect(nights["nights"] == [["id": "n", "version": 1]] && nights["deletedNights"] == [])
    }

    @Test func metrics() {
        #expect(DeliveryMetric(family: "heart-rate").path == "/api/v1/sync/heart-rate")
    }
}
