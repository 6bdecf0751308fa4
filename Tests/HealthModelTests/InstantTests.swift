import Foundation
import HealthModel
import TestSupport
import Testing

@Suite struct InstantTests {
    private let noon = Instant(seconds: 1_743_336_000)

    @Test func twoAreALengthApart() {
        let later = noon + .milliseconds(1500)
        #expect(later.microseconds == 1_743_336_001_500_000)
        #expect(later - noon == .milliseconds(1500) && noon - later == .milliseconds(-1500))
        #expect(later - .milliseconds(1500) == noon)
        var moved = noon
        moved += .seconds(60)
        #expect(moved == Instant(seconds: 1_743_336_060))
        // Fractions of a microsecond are rounded to the nearest microsecond.
        #expect(
            noon + .nanoseconds(1499) == noon + .microseconds(1) && noon + .nanoseconds(1500) == noon + .microseconds(2)
        )
    }

    @Test func theyAreInOrder() {
        let ordered = [.distantPast, Instant(microseconds: -1), .epoch, noon, noon + .microseconds(1), .distantFuture]
        for (a, b) in zip(ordered, ordered.dropFirst()) {
            #expect(a < b && a <= b && b > a && a != b && min(a, b) == a && max(a, b) == b)
        }
        #expect(ordered.shuffled().sorted() == ordered && Set(ordered + ordered).count == ordered.count)
        #expect((noon..<noon + .seconds(1)).contains(noon) && !(noon..<noon).contains(noon))
    }

    @Test func aSecondIsRoundedDownAlsoBefore1970() {
        let seconds = [-2_000_000, -1_000_001, -1_000_000, -1, 0, 999_999, 1_000_000].map {
            Instant(microseconds: $0).flooredSecond
        }
        #expect(seconds == [-2, -2, -1, -1, 0, 0, 1])
        #expect(Instant(microseconds: -1_500_000).secondsSince1970 == -1.5)
    }

    private struct Message: Codable, Equatable {
        var at: Instant
        var until: Instant?
        var spans: [String: [Instant]]
        @OrNull var none: Instant?
    }

    /// In messages and files, an instant is still a plain integer.
    @Test func codesAsTheBareInteger() throws {
        let message = Message(at: noon, until: .distantPast, spans: ["me": [.epoch, .distantFuture]], none: nil)
        let value: Value = [
            "at": 1_743_336_000_000_000, "until": .integer(.min), "spans": ["me": [0, .integer(.max)]], "none": .null,
        ]
        #expect(Value(message) == value)
        #expect(try value.decode(Message.self) == message)
        #expect(Value(noon) == 1_743_336_000_000_000)
        let text = #"{"at":1,"spans":{"me":[-2,3]}}"#
        let read = try JSONDecoder().decode(Message.self, from: Data(text.utf8))
        #expect(read.at.microseconds == 1 && read.until == nil && read.spans["me"]?.map(\.microseconds) == [-2, 3])
        #expect(try JSONEncoder().encode([noon]) == Data("[1743336000000000]".utf8))
        #expect(Value.string("1").read(Instant.self) == nil && Value.number(1.5).read(Instant.self) == nil)
    }

    /// Figures are computed from lengths. A length in whole microseconds becomes the nearest double, like a quotient of
    /// integers.
    @Test func aLengthInSecondsIsTheNearestDouble() {
        var random = SeededRandom(seed: 9)
        for _ in 0..<2000 {
            let length = Int64.random(in: -4_000_000_000_000_000...4_000_000_000_000_000, using: &random)
            #expect(Duration.microseconds(length).seconds == Double(length) / 1_000_000, "\(length)")
            #expect(Duration.microseconds(length).microseconds == length)
        }
    }

    @Test func aRangeOfMicrosecondsAndBack() {
        let range = noon..<noon + .seconds(2)
        #expect(range.microseconds == 1_743_336_000_000_000..<1_743_336_002_000_000)
        #expect(Range(microseconds: range.microseconds) == range)
    }
}
