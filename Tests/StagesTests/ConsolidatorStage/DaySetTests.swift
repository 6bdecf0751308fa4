import ConsolidatorStage
import Testing

/// A set of days stored as bits is compared with a plain set.
@Suite struct DaySetTests {
    private typealias Key = DaySet.Key

    private func random(_ generator: inout SystemRandomNumberGenerator, people: Int = 5, days: Int = 200) -> Key {
        Key(
            user: "user-\(Int.random(in: 0..<people, using: &generator))",
            day: Int.random(in: -100..<days, using: &generator))
    }

    @Test func holdsWhatAPlainSetHolds() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            var (set, plain) = (DaySet(), Set<Key>())
            var (other, plainOther) = (DaySet(), Set<Key>())
            for _ in 0..<300 {
                let key = random(&generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0:
                    set.remove(key)
                    plain.remove(key)
                case 1:
                    other.insert(key)
                    plainOther.insert(key)
                default:
                    set.insert(key)
                    plain.insert(key)
                }
            }
            #expect(set.count == plain.count && set.isEmpty == plain.isEmpty)
            #expect(Set(set.sorted) == plain && set.sorted.count == plain.count)
            for _ in 0..<50 {
                let key = random(&generator)
                #expect(set.contains(key) == plain.contains(key))
            }
            #expect(Set(set.subtracting(other).sorted) == plain.subtracting(plainOther))
            #expect(Set(set.intersection(other).sorted) == plain.intersection(plainOther))
            #expect(set.subtracting(other).count == plain.subtracting(plainOther).count)
            set.formUnion(other)
            #expect(Set(set.sorted) == plain.union(plainOther) && set.count == plain.union(plainOther).count)
        }
    }

    @Test func takesTheNewestFirstAndKeepsAPersonsDaysTogether() {
        var set = DaySet((0..<96).flatMap { day in ["a", "b"].map { Key(user: $0, day: day) } })
        #expect(
            set.takeNewest(40).map { "\($0.user) \($0.day)" }
                == (64..<96).reversed().map { "a \($0)" } + (88..<96).reversed().map { "b \($0)" })
        #expect(set.count == 152)
        #expect(set.takeNewest(25).map { "\($0.user) \($0.day)" } == (64..<88).reversed().map { "b \($0)" } + ["a 63"])
        #expect(set.takeNewest(1000).count == 127)
        #expect(set.isEmpty && set.takeNewest(1).isEmpty)
    }
}
