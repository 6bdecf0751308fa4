import HealthModel
import HealthStore
import Testing

/// Where only its creation says which of several samples is the latest, a slice says when they were stored.
@Suite struct SliceTieTests {
    private static let range = Instant.epoch..<Instant(seconds: 2_000_000_000)

    private static func tied(_ type: String) -> [Record] {
        [
            Record(type: type, start: 100, value: 52, unit: "", created: 7),
            Record(type: type, source: "Ring", start: 100, value: 55, unit: "", created: 8),
            Record(type: type, start: 200, value: 52, unit: "", created: 9),
            Record(type: type, start: 300, value: 52, unit: "", created: 10),
            Record(type: type, source: "Ring", start: 300, value: 52, unit: "", created: 11),
            Record(type: type, source: "Ring", start: 300, length: 61, value: 53, unit: "", created: 12),
        ]
    }

    @Test(arguments: [2, .max], [1, 2, 100])
    func onlyWhereItDecides(_ leastInBlock: Int, _ limit: Int) throws {
        let store = try StoreFixture(leastInBlock: leastInBlock)
        let type = "HKQuantityTypeIdentifierRestingHeartRate"
        try store.add(Self.tied(type))
        var page = SamplePage()
        var position: SlicePosition?
        repeat {
            let part = try store.reader.slice(
                SliceQuery(user: "anna", types: .only([type]), ranges: [Self.range]), after: position,
                limits: PullLimits(rows: limit, bytes: .max))
            page.append(part.samples)
            position = part.next
        } while position != nil
        #expect(page.count == 6 && page.created.count == 6)
        #expect(zip(page.start, page.created).map { $0 == 100_000_000 ? $1 > 0 : $1 == 0 }.allSatisfy { $0 })
        #expect(Set(page.created) == [0, 7, 8])
    }

    @Test func sumsNeedNone() throws {
        let store = try StoreFixture()
        try store.add(Self.tied("HKQuantityTypeIdentifierStepCount"))
        let page = try store.slice(SliceQuery(user: "anna", types: .allExcept([]), ranges: [Self.range]))
        #expect(page.count == 6 && page.created.isEmpty && page.payload.count == 0)
    }

    @Test func payloadsStay() throws {
        let store = try StoreFixture()
        let type = "HKQuantityTypeIdentifierHeartRate"
        try store.add([
            Record(type: type, start: 100, value: 60, unit: "", created: 7, payload: #"{"maximum":61}"#),
            Record(type: type, source: "Ring", start: 100, value: 62, unit: "", created: 8),
        ])
        var query = SliceQuery(user: "anna", types: .only([type]), ranges: [Self.range])
        query.payloads = [type]
        let page = try store.slice(query)
        #expect(Set(page.created) == [7, 8] && page.metadata.count == 2)
        #expect(Set((0..<2).map { page.payload[$0] }) == ["", #"{"maximum":61}"#])
    }
}
