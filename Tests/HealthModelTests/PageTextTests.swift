import HealthModel
import Testing

/// A page's rows as text: what its optional columns and its lists of names give for a row.
@Suite struct PageTextTests {
    @Test func aColumnThatThePageLacksHasNoText() {
        var page = SamplePage()
        page.ids = [SampleID(high: 1, low: 2), SampleID(high: 3, low: 4)]
        #expect(page.unitIndex(1) == nil && page.uuidOf(1) == nil && page.metadata.utf8(1) == nil)
        page.unit = [0, 1]
        page.healthKitUUID = [nil, SampleID(high: 5, low: 6)]
        page.metadata.appendEmpty()
        page.metadata.append("{\"a\":1}")
        #expect(page.unitIndex(1) == 1)
        #expect(page.uuidOf(0) == nil && page.uuidOf(1) == SampleID(high: 5, low: 6))
        #expect(page.metadata.utf8(0) == nil)
        #expect(page.metadata.utf8(1).map { Array($0) } == Array("{\"a\":1}".utf8))
    }

    @Test(arguments: [
        (UInt64(0), UInt64(0), "00000000-0000-0000-0000-000000000000"),
        (0x0197_7F3A_5C00_8ABC, 0x9DEF_0123_4567_89AB, "01977f3a-5c00-8abc-9def-0123456789ab"),
        (.max, .max, "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    ])
    func anIDIsALowerCaseUUID(high: UInt64, low: UInt64, text: String) {
        let id = SampleID(high: high, low: low)
        var bytes = Array("id ".utf8)
        bytes.append(uuid: id)
        #expect(String(decoding: bytes, as: UTF8.self) == "id " + text)
        #expect(id.description == text && SampleID(text) == id)
    }
}
