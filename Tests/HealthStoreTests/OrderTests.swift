import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// Any order, and any division into batches, produces the same rows.
@Suite struct OrderTests {
    @Test(arguments: 0..<12)
    func anyOrderAndBatchingGivesTheSameRows(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let file = (0..<120).map { _ in
            Record(
                type: Bool.random(using: &random) ? "A" : "B", source: Bool.random(using: &random) ? "watch" : "phone",
                start: Double(Int.random(in: -3...6, using: &random)),
                length: Double(Int.random(in: 0...2, using: &random)),
                value: Double(Int.random(in: 1...4, using: &random)))
        }
        var results: [Set<Row>] = []
        for _ in 0..<3 {
            let store = try StoreFixture()
            let session = ImportSession(source: "file")
            var rest = file.shuffled(using: &random)[...]
            while !rest.isEmpty {
                let size = Int.random(in: 1...40, using: &random)
                try store.add(Array(rest.prefix(size)), session)
                rest = rest.dropFirst(size)
            }
            results.append(try store.alive())
            let head = try store.head()
            #expect(try store.add(file.shuffled(using: &random)).known == file.count)
            #expect(try store.head() == head)
        }
        #expect(results[0].count == file.count)
        #expect(results[0] == results[1])
        #expect(results[1] == results[2])
    }

    /// A description of one sample by a channel that knows more or less detail.
    private static func description(_ random: inout SeededGenerator) -> Record {
        func pick<Element>(_ choices: [Element], _ random: inout SeededGenerator) -> Element {
            choices[Int.random(in: 0..<choices.count, using: &random)]
        }
        return Record(
            version: pick(["", "9.0", "9.1", "10"], &random), product: pick(["", "Watch6,1"], &random),
            device: pick(["", "name:Apple Watch", "name:Apple Watch, model:Watch"], &random),
            start: pick([1_700_000_000, 1_700_000_000.25, 1_700_000_000.125], &random), length: 60,
            value: pick([5000, 5000.05, 5000.0099999], &random), created: pick([0, 5, 7], &random),
            flags: pick([0, 1, 4, 5], &random),
            metadata: pick(
                ["", #"{"a":"1"}"#, #"{"b":"2","a":"1"}"#, #"{ "c" : [1, {"x":"}"}], "a":"1" }"#, #"{"a":"22"}"#],
                &random),
            payload: pick(["", #"{"beats":[]}"#, #"{"beats":[[60,1]],"z":null}"#, "not an object"], &random),
            uuid: pick([nil, uuid(1)], &random))
    }

    @Test(arguments: 0..<60)
    func joiningIsCommutativeAndAFixedPoint(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed &* 7919 &+ 1)
        let copies = (0..<3).map { _ in Self.description(&random) }
        var results: [Set<Row>] = []
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let store = try StoreFixture()
            for index in order { try store.add([copies[index]]) }
            results.append(try store.alive())
            let head = try store.head()
            for index in order { #expect(try store.add([copies[index]]).known == 1) }
            #expect(try store.head() == head)
        }
        #expect(results[0].count == 1)
        #expect(Set(results).count == 1)
    }

    @Test func aPoorerCopyTakesNothingAway() throws {
        let store = try StoreFixture()
        let rich = Record(
            version: "9.0", product: "Watch6,1", device: "name:Apple Watch", start: 1_700_000_000.123456, created: 9,
            metadata: #"{"a":"1"}"#, payload: #"{"beats":[]}"#, uuid: uuid(7))
        try store.add([rich])
        let before = try store.alive()
        let head = try store.head()
        #expect(try store.add([Record()]).known == 1)
        #expect(try store.head() == head)
        #expect(try store.alive() == before)
    }

    @Test func aSubSecondStartKeepsTheID() throws {
        let store = try StoreFixture()
        try store.add([Record()])
        let id = try store.alive().first?.id
        try store.add([Record(start: 1_700_000_000.5, length: 60.25)])
        let row = try #require(try store.alive().first)
        #expect(row.id == id)
        #expect(row.start == 1_700_000_000_500_000)
        #expect(row.end == 1_700_000_060_750_000)
        #expect(try store.reader.heads().first?.firstStart == row.start)
    }

    @Test func aUUIDDistinguishesSamplesOfOneKey() throws {
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
            let store = try StoreFixture()
            let copies = [Record(uuid: uuid(1)), Record(uuid: uuid(2)), Record()]
            for index in order { try store.add([copies[index]]) }
            #expect(try store.alive().count == 2)
            #expect(Set(try store.alive().map(\.uuid)) == [uuid(1), uuid(2)])
        }
    }

    @Test func aUUIDFindsItsSampleUnderAnotherKey() throws {
        let store = try StoreFixture()
        try store.add([Record(uuid: uuid(1))])
        #expect(try store.add([Record(source: "renamed", uuid: uuid(1))]).added == 0)
        #expect(try store.add([Record(start: 1_699_999_999, uuid: uuid(1))]).added == 0)
        #expect(try store.alive().count == 1)
    }
}
