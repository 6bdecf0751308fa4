import Changelog
import HealthModel
import ObserverReading
import Protocol
import Testing

/// A page goes to a consumer that asked for its rows. The page contains nothing of any other row, not even a name.
extension ObserverDeliveryTests {
    @Test(arguments: ["samples", "slice"])
    func aPageHasNoStringOfARowThatWasNotChosen(query: String) throws {
        let rig = try rig()
        let start = Instant(seconds: 1_743_000_000)
        try bring(
            rig,
            Record(
                type: Self.heart, source: "OthersWatch", device: "name:OthersDevice", start: start, value: 60,
                unit: "count/min", metadata: #"{"note":"OthersNote"}"#),
            Record(source: "Phone", device: "name:Slab", start: start, value: 5, metadata: #"{"note":"Mine"}"#))
        try bring(rig, user: "SomebodyElse", Record(source: "OthersPhone", start: start, value: 7))
        func answered(_ predicate: Value) throws -> String {
            var members = try #require(request(query).object)
            members["detailed"] = ["exclude": []]
            members["predicate"] = predicate
            var bytes: [UInt8] = []
            let source = try ObserverSource(database: rig.store.database)
            try source.answer(.object(members), head: rig.store.head) { page, _ in
                bytes += CBOREncoder.encode(.object(page))
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        let others = [Self.heart, "OthersWatch", "OthersDevice", "OthersNote", "count/min"]
        let all = try answered(["enteredByHand": false])
        #expect(others.allSatisfy { all.contains($0) })
        let chosen = try answered(["sources": ["Phone"]])
        for name in [Self.steps, "Phone", "Slab", "Mine"] { #expect(chosen.contains(name), "\(name)") }
        for name in others + ["OthersPhone", "SomebodyElse"] { #expect(!chosen.contains(name), "\(name)") }
        let none = try answered(["sources": ["Nobody's"]])
        for name in others + [Self.steps, "Phone", "Slab", "SomebodyElse"] { #expect(!none.contains(name), "\(name)") }
    }
}
