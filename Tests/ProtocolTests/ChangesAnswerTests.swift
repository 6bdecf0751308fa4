import HealthModel
import Protocol
import Testing

@Suite struct ChangesAnswerTests {
    /// A page with rows of two people, as the observer sends them.
    private func page() -> SamplePage {
        var page = SamplePage()
        page.types = ["HKQuantityTypeIdentifierStepCount", "BobsType"]
        page.units = ["count", "bobs"]
        page.origins = ["Bob’s Watch", "Anna’s iPhone"].map {
            Origin(sourceName: $0, sourceVersion: "1", productType: "", device: "")
        }
        for row in 0..<4 {
            let isBobs = row % 2 == 0
            page.ids.append(SampleID(high: 1, low: UInt64(row)))
            page.sequence.append(Int64(row) + 1)
            page.type.append(isBobs ? 1 : 0)
            page.start.append(1_742_300_000_000_000)
            page.end.append(1_742_300_060_000_000)
            page.value.append(Double(row))
            page.origin.append(isBobs ? 0 : 1)
            page.flags.append(row == 3 ? [.deleted, .userEntered] : .userEntered)
            page.unit.append(isBobs ? 1 : 0)
            page.created.append(1_742_300_100)
            page.healthKitUUID.append(SampleID(high: 2, low: UInt64(row)))
            page.metadata.append("{\"row\":\(row)}")
            page.payload.append("{\"payload\":\(row)}")
        }
        return page
    }

    private func sent(_ rows: [Int]) throws -> SamplePage {
        var answer = ChangesAnswer(user: "anna")
        answer.next = "x"
        answer.add(rows, of: page())
        return try #require(try ChangesAnswer(body: answer.encoded()).pages.first)
    }

    @Test func nothingOfAnotherPersonGoesAlong() throws {
        let page = try sent([1, 3])
        #expect(page.types == ["HKQuantityTypeIdentifierStepCount"] && page.units == ["count"])
        #expect(page.origins.map(\.sourceName) == ["Anna’s iPhone"])
        #expect(page.type == [0, 0] && page.unit == [0, 0] && page.origin == [0, 0])
        #expect(page.value[0] == 1 && page.metadata[0] == "{\"row\":1}" && page.flags[0] == .userEntered)
    }

    @Test func aDeletedSampleHasNoContent() throws {
        for page in [try sent([1, 3]), try sent([0, 1, 2, 3])] {
            let last = page.count - 1
            #expect(page.value[last].isNaN && page.metadata.isEmpty(last) && page.payload.isEmpty(last))
            #expect(page.flags[last] == .deleted && page.created[last] == 0)
            #expect(page.ids[last].low == 3 && page.healthKitUUID[last]?.low == 3)
            #expect(!page.payload.isEmpty(0))
        }
    }

    @Test func namesThatAreUsedKeepTheirRows() throws {
        let whole = page()
        let page = whole.select([3, 0]).withoutUnusedNames()
        for (row, old) in [3, 0].enumerated() {
            #expect(page.typeName(row) == whole.typeName(old) && page.originOf(row) == whole.originOf(old))
            #expect(page.units[Int(page.unit[row])] == whole.units[Int(whole.unit[old])])
        }
    }

    @Test func noRowsAreNoPage() {
        var answer = ChangesAnswer(user: "anna")
        answer.add([], of: page())
        #expect(answer.pages.isEmpty)
    }
}
