import HealthModel
import Protocol
import TestSupport
import Testing

@Suite struct SamplePageCodecTests {
    private func back(_ page: SamplePage) throws -> SamplePage {
        try SamplePage(wireValue: CBORDecoder.decode(CBOREncoder.encode(page.wireValue)))
    }

    @Test(arguments: [0, 1, 2, 600], [true, false])
    func comesBackAsItWas(count: Int, isFull: Bool) throws {
        for seed in 0..<10 {
            let page = PageFixture.samples(count, isFull: isFull, seed: UInt64(seed))
            #expect(try back(page).holdsSame(as: page))
        }
    }

    @Test func keepsOddValues() throws {
        var page = PageFixture.samples(4, isFull: true)
        page.value = [-0.0, .infinity, .leastNonzeroMagnitude, -.greatestFiniteMagnitude]
        page.start = [.min, -1, 0, .max]
        page.end = [.min, -1, 0, .max]
        page.flags = [[], .deleted, [.deleted, .quarantined], SampleFlags(rawValue: 0xE0)]
        page.origins[0] = Origin(sourceName: "Jo’s 🍏\0", sourceVersion: "", productType: "", device: "")
        #expect(try back(page).holdsSame(as: page))
    }

    @Test func columnsThatWereNotAskedForDoNotTravel() {
        let slice = PageFixture.samples(3, isFull: false).wireValue.object ?? [:]
        #expect(Set(slice.keys).isDisjoint(with: ["unit", "units", "created", "metadata", "payload", "uuid"]))
    }

    @Test func aNewerFieldChangesNothing() throws {
        let page = PageFixture.samples(3, isFull: true)
        var members = page.wireValue.object ?? [:]
        members["weather"] = "sunny"
        #expect(try SamplePage(wireValue: .object(members)).holdsSame(as: page))
    }

    private func refusal(_ change: (inout [String: Value]) -> Void) -> String? {
        var members = PageFixture.samples(4, isFull: true).wireValue.object ?? [:]
        change(&members)
        do throws(PageError) {
            _ = try SamplePage(wireValue: .object(members))
            return nil
        } catch { return error.column }
    }

    private static let columns = ["id", "seq", "type", "start", "end", "value", "origin", "flags", "types", "origins"]

    @Test(arguments: columns) func aMissingColumnIsRefused(name: String) {
        #expect(refusal { $0[name] = nil } == name)
    }

    @Test(arguments: columns + ["unit", "units", "created", "metadata", "payload", "uuid"])
    func aColumnOfAnotherKindIsRefused(name: String) {
        #expect(refusal { $0[name] = "text" } == name)
        #expect(refusal { $0[name] = [1, "a", 2, "b"] } == name)
    }

    @Test(arguments: ["seq", "start", "end", "created"]) func aLongerOrShorterColumnIsRefused(name: String) {
        #expect(refusal { $0[name] = .column(.int64([1, 2, 3])) } == name)
        #expect(refusal { $0[name] = .column(.int64([1, 2, 3, 4, 5])) } == name)
    }

    @Test func lengthsOfOtherColumnsMustAgreeToo() {
        #expect(refusal { $0["type"] = .column(.int32([0])) } == "type")
        #expect(refusal { $0["value"] = .column(.float64([0])) } == "value")
        #expect(refusal { $0["flags"] = .column(.uint8([0])) } == "flags")
        #expect(refusal { $0["unit"] = .column(.int32([0])) } == "unit")
        #expect(refusal { $0["uuid"] = .bytes(Array(repeating: 1, count: 16)) } == "uuid")
        #expect(refusal { $0["uuid"] = .bytes([1]) } == "uuid")
        #expect(refusal { $0["id"] = .bytes(Array(repeating: 1, count: 63)) } == "id")
        #expect(refusal { $0["id"] = .bytes(Array(repeating: 1, count: 48)) } != nil)
    }

    @Test(arguments: ["type", "origin", "unit"], [2, -1, Int32.max, Int32.min])
    func anIndexOutsideItsDictionaryIsRefused(name: String, index: Int32) {
        #expect(refusal { $0[name] = .column(.int32([0, 1, index, 0])) } == name)
    }

    /// An unreadable entry must not shift the others: every later index would then name the wrong type.
    @Test func aDictionaryWithAnEntryOfAnotherKindIsRefused() {
        #expect(refusal { $0["types"] = [5, "a", "b"] } == "types")
        #expect(refusal { $0["units"] = ["a", .null, "b"] } == "units")
        #expect(refusal { $0["origins"] = [["a", "b", "c", "d"], "e"] } == "origins")
        #expect(refusal { $0["origins"] = [["a", "b", "c", "d"], ["a", "b", "c"]] } == "origins")
    }

    @Test func textColumnsStayInTheirBytes() {
        for ends: [Int32] in [[1, 2, 3, 99], [3, 2, 3, 4], [-1, 0, 0, 0]] {
            let column: Value = ["bytes": .bytes([65, 66, 67, 68]), "ends": .column(.int32(ends))]
            #expect(refusal { $0["metadata"] = column } == "metadata")
        }
        #expect(refusal { $0["metadata"] = ["bytes": .bytes([65])] } == "metadata")
        #expect(refusal { $0["payload"] = ["bytes": .bytes([65]), "ends": .column(.int32([1]))] } == "payload")
    }

    /// Three million samples per second in each direction on one core, in pages of 64 KiB as on the bus.
    @Test(arguments: [true, false]) func isFast(isFull: Bool) throws {
        let page = PageFixture.samples(isFull ? 600 : 1100, isFull: isFull)
        let bytes = CBOREncoder.encode(page.wireValue)
        #expect(bytes.count < 80_000)
        // Measured in processor time, and the best of several runs counts: other programs run on the same cores, and
        // share their caches.
        func rate(_ body: () throws -> Void) rethrows -> Double {
            var best = 0.0
            for _ in 0..<20 {
                let took = try processorTime { for _ in 0..<50 { try body() } }.time
                best = max(best, Double(page.count * 50) / (took / .seconds(1)))
            }
            return best
        }
        var sum = 0
        let encode = rate { sum &+= CBOREncoder.encode(page.wireValue).count }
        let decode = try rate { sum &+= try SamplePage(wireValue: CBORDecoder.decode(bytes)).count }
        print("page codec, \(isFull ? "all columns" : "slice"): \(Int(encode)) samples/s out, \(Int(decode)) in")
        #expect(sum > 0)
        #expect(encode > 3e6 && decode > 3e6)
    }
}
