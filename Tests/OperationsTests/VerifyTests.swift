import Control
import HealthModel
import Inspection
import TestSupport
import Testing

/// What `healthbus verify` decides, tested without a stack.
@Suite struct VerifyTests {
    private func held(_ version: Int64, deleted: Bool = false, content: Int64? = nil) -> HeldVersion {
        HeldVersion(version: version, isDeleted: deleted, content: content)
    }

    @Test func eachDifferenceHasItsName() {
        func finding(_ ours: HeldVersion, _ theirs: HeldVersion?, dead: Bool = false) -> VerifyFinding? {
            VerifyFinding.of(ours, theirs, refusal: dead ? .deadLetter : nil)
        }
        #expect(finding(held(5), held(5)) == nil)
        #expect(finding(held(5), nil) == .missing)
        #expect(finding(held(5, deleted: true), nil) == .missingDeletion)
        #expect(finding(held(5), held(4)) == .older)
        #expect(finding(held(5, deleted: true), held(5)) == .aliveThere)
        #expect(finding(held(5, deleted: true), held(4)) == .aliveThere)
        #expect(finding(held(5), held(4, deleted: true)) == .deletedThere)
        // According to the rule for versions, these can't be fixed by delivery.
        #expect(finding(held(5), held(6)) == .newer)
        #expect(finding(held(5, deleted: true), held(6)) == .newer)
        #expect(finding(held(5), held(5, deleted: true)) == .deletedLater)
        #expect(finding(held(5), held(6, deleted: true)) == .deletedLater)
        #expect(finding(held(5), held(6, deleted: true), dead: true) == .deletedLater)
        // An element that is deleted on both sides counts as equal.
        #expect(finding(held(5, deleted: true), held(4, deleted: true)) == nil)
        // Equal versions alone aren't enough; if the other side reports no contents, they have to be.
        #expect(finding(held(5, content: 1), held(5, content: 2)) == .altered)
        #expect(finding(held(5, content: 1), held(5, content: 1)) == nil)
        #expect(finding(held(5, content: 1), held(5)) == nil)
        #expect(finding(held(5, content: 1), held(4, content: 2)) == .older)
        // The backend has refused the element, which is known and reported as such.
        #expect(finding(held(5), nil, dead: true) == .deadLetter)
        #expect(finding(held(5), held(4), dead: true) == .deadLetter)
        #expect(finding(held(5), held(5), dead: true) == nil)
    }

    @Test func whatAPersonDroppedIsNotMissedInThatVersionAlone() {
        func finding(_ ours: HeldVersion, _ theirs: HeldVersion?) -> VerifyFinding? {
            VerifyFinding.of(ours, theirs, refusal: .dropped(version: 5))
        }
        #expect(finding(held(5), nil) == .dropped)
        #expect(finding(held(5), held(4)) == .dropped)
        #expect(finding(held(5, deleted: true), held(4)) == .dropped)
        #expect(finding(held(5), held(5)) == nil)
        #expect(finding(held(5), held(6)) == .newer)
        // The element has changed since, and the new version should be there.
        #expect(finding(held(6), nil) == .missing)
        #expect(finding(held(6), held(4)) == .older)
        #expect(!VerifyFinding.dropped.isWrong)
    }

    @Test func onlyWhatDeliveryOvercomesIsRepairable() {
        let repairable: [VerifyFinding] = [.missing, .missingDeletion, .older, .aliveThere, .deletedThere]
        #expect(VerifyFinding.allCases.filter(\.isRepairable) == repairable)
        let undelivered: [VerifyFinding] = [.deadLetter, .dropped, .pending, .off]
        #expect(VerifyFinding.allCases.filter(\.isUndelivered) == undelivered)
    }

    @Test func theLastLineClaimsNoMoreThanWasDelivered() {
        func verdict(
            _ deadLetters: Int, _ pending: Int, dropped: Int = 0, holds: Bool = true, contents: Bool = true
        ) -> String {
            VerifyReport.verdict(
                holdsDelivered: holds, deadLetters: deadLetters, dropped: dropped, pending: pending,
                comparesContents: contents)
        }
        #expect(verdict(0, 0) == "The backend holds all of it, once and with the values and times held here")
        #expect(
            verdict(0, 0, contents: false)
                == "The backend holds all of it, once and in the version held here; it doesn't report contents, so they weren't compared"
        )
        #expect(
            verdict(3, 1436)
                == "The backend holds everything delivered; 3 are in dead letters, 1\u{202F}436 aren't delivered yet")
        #expect(verdict(1, 0) == "The backend holds everything delivered; 1 is in dead letters")
        #expect(verdict(0, 1) == "The backend holds everything delivered; 1 isn't delivered yet")
        #expect(verdict(0, 0, dropped: 1) == "The backend holds everything delivered; 1 was dropped on purpose")
        #expect(
            verdict(1, 0, dropped: 2)
                == "The backend holds everything delivered; 1 is in dead letters, 2 were dropped on purpose")
        #expect(verdict(3, 4, holds: false) == "The backend doesn't hold what it should")
    }

    /// Samoa skipped 2011-12-30.
    @Test func aSkippedDateDoesntOpenTheRange() throws {
        let zones = try ZoneTimeline(zone: "Pacific/Apia")
        let midnight = try #require(InstantText.parse("2011-12-31T00:00:00+14:00"))
        let skipped = LocalDay(year: 2011, month: 12, day: 30)
        let from = Verification.Scope(from: skipped).span(in: zones)
        #expect(from.lowerBound == midnight && from.upperBound == .distantFuture)
        let to = Verification.Scope(to: skipped).span(in: zones)
        #expect(to.lowerBound == .distantPast && to.upperBound == midnight)
        #expect(Verification.Scope(from: skipped, to: skipped).span(in: zones).isEmpty)
        #expect(Verification.Scope().span(in: zones) == .distantPast ..< .distantFuture)
    }

    @Test func onlyTheRequestedDaysAreCounted() {
        func day(_ number: Int) -> LocalDay { LocalDay(year: 2025, month: 3, day: number) }
        let scope = Verification.Scope(from: day(1), to: day(1))
        var ours: [String: Verification.Document] = [:]
        var theirs: [String: HeldVersion] = [:]
        for number in 1...3 {
            ours[day(number).description] = .init(held: held(5), producer: "consolidator", day: day(number))
            theirs[day(number).description] = held(5)
        }
        theirs["2024-01-01"] = held(5)
        let days = Verification.compare(ours, with: theirs, of: "days", in: scope)
        #expect(days.found.here == 1 && days.found.there == 1 && days.found.counts == [:] && days.again == [:])
        let all = Verification.compare(ours, with: theirs, of: "days", in: .init())
        #expect(all.found.here == 3 && all.found.there == 4 && all.found.counts == [.beyond: 1])
        // Nobody knows the day of a workout that only the backend has.
        #expect(Verification.compare([:], with: theirs, of: "workouts", in: scope).found.there == 0)
        theirs["2025-03-01"] = nil
        #expect(Verification.compare(ours, with: theirs, of: "days", in: scope).again == ["consolidator": [5]])
    }

    private static let now = Instant(seconds: 1_750_000_000)
    private static let dayMilliseconds: UInt64 = 86_400_000

    private func id(day: Int, _ number: UInt64) -> SampleID {
        SampleID(high: (UInt64(day) * Self.dayMilliseconds + number) << 16 | 0x8000, low: number &* 0x9e37_79b9)
    }

    @Test func onlyDaysThatDifferAreLookedAt() {
        var fold = VersionFold(now: Self.now)
        var shuffled = Array(0..<3000)
        var generator = SystemRandomNumberGenerator()
        shuffled.shuffle(using: &generator)
        for number in 0..<3000 {
            fold.add(id(day: 20_000 + number % 30, UInt64(number)), held(Int64(number), deleted: false), .ours)
        }
        for number in shuffled {
            fold.add(id(day: 20_000 + number % 30, UInt64(number)), held(Int64(number), deleted: false), .theirs)
        }
        #expect(fold.differing(rows: 1000) == [])
        // One extra row, one with a different version, one deleted, and one id replaced by another.
        fold.add(id(day: 20_001, 5000), held(1, deleted: false), .ours)
        fold.add(id(day: 20_004, 5000), held(1, deleted: false), .ours)
        fold.add(id(day: 20_004, 5000), held(2, deleted: false), .theirs)
        fold.add(id(day: 20_006, 5000), held(1, deleted: false), .ours)
        fold.add(id(day: 20_006, 5000), held(1, deleted: true), .theirs)
        fold.add(id(day: 20_009, 5000), held(1, deleted: false), .ours)
        fold.add(id(day: 20_009, 5001), held(1, deleted: false), .theirs)
        #expect(fold.differing(rows: 1_000_000) == [[20_001, 20_004, 20_006, 20_009]])
        fold.add(id(day: 20_011, 5000), held(1, content: 7), .ours)
        fold.add(id(day: 20_011, 5000), held(1, content: 8), .theirs)
        #expect(fold.differing(rows: 1_000_000) == [[20_001, 20_004, 20_006, 20_009, 20_011]])
        fold.add(id(day: 20_011, 5001), held(1, content: 8), .ours)
        fold.add(id(day: 20_011, 5001), held(1, content: 8), .theirs)
        // A day has 201 or 202 rows here.
        #expect(fold.differing(rows: 410) == [[20_001, 20_004], [20_006, 20_009], [20_011]])
        #expect(fold.differing(rows: 1).count == 5)
    }

    @Test func everyIdLiesInItsBucketsRange() {
        let fold = VersionFold(now: Self.now)
        let ids = [
            SampleID(high: 0, low: 0), SampleID(high: .max, low: .max), id(day: 0, 0), id(day: 20_000, 0),
            id(day: 20_000, Self.dayMilliseconds - 1), id(day: 60_000, 3),
            SampleID(high: 0x4a1b_4c2d_0000_4000, low: 9),
        ]
        for id in ids {
            let bucket = fold.bucket(of: id)
            let (after, last) = fold.ids(of: bucket)
            #expect(id <= last)
            if let after { #expect(after < id) }
        }
        // There is no gap between adjacent buckets.
        for bucket in 0..<fold.buckets.count - 1 {
            let last = fold.ids(of: bucket).last
            #expect(fold.ids(of: bucket + 1).after == last)
        }
        #expect(fold.buckets.count < 40_000)
    }

    @Test func whatComesTwiceIsNeverOverlooked() {
        var twice = SeenTwice(bitsLog2: 20)
        for number in 0..<50_000 as Range<Int64> { twice.add(number &* 7_919) }
        let mistaken = twice.candidates.count
        // According to the filter's arithmetic, about 120 are expected.
        #expect(mistaken < 1000)
        for number in stride(from: 0, to: 50_000, by: 1000) as StrideTo<Int64> { twice.add(number &* 7_919) }
        for number in stride(from: 0, to: 50_000, by: 1000) as StrideTo<Int64> {
            #expect(twice.candidates.contains(number &* 7_919))
        }
        #expect(!twice.isFull)
    }

    @Test func sequencesBecomeFewWindows() {
        func windows(_ sequences: [SequenceNumber], limit: Int = 1000) -> [[SequenceNumber]] {
            SequenceWindows.of(sequences, limit: limit).map { [$0.after, $0.until] }
        }
        #expect(windows([]) == [])
        #expect(windows([7]) == [[6, 7]])
        #expect(windows([9, 7, 8, 7, 20]) == [[6, 9], [19, 20]])
        // If there are too many windows, those with the narrowest gaps between them are joined.
        #expect(windows([1, 3, 100, 103, 1000], limit: 3) == [[0, 3], [99, 103], [999, 1000]])
        #expect(windows([1, 3, 100, 103, 1000], limit: 1) == [[0, 1000]])
        let many = (0..<5000).map { SequenceNumber($0 * $0) }
        let few = SequenceWindows.of(many, limit: 100)
        #expect(few.count <= 100)
        #expect(many.allSatisfy { sequence in few.contains { $0.after < sequence && sequence <= $0.until } })
    }
}
