import Control
import DeliveryKit
import HealthModel
import Terminal
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
        // A later version with the same content does no harm.
        #expect(finding(held(5, content: 1), held(6, content: 1)) == nil)
        #expect(finding(held(5, content: 1), held(6, content: 2)) == .newer)
        // A destination that keeps no versions is compared by content alone.
        #expect(finding(held(5, content: 1), HeldVersion(version: nil, isDeleted: false, content: 1)) == nil)
        #expect(finding(held(5, content: 1), HeldVersion(version: nil, isDeleted: false, content: 2)) == .altered)
        #expect(finding(held(5, deleted: true), HeldVersion(version: nil, isDeleted: false, content: 2)) == .aliveThere)
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

    @Test func eachDifferenceHasItsRemedy() {
        let delivered: [VerifyFinding] = [.missing, .missingDeletion, .older, .aliveThere, .deletedThere]
        #expect(VerifyFinding.allCases.filter { $0.remedy() == .delivery } == delivered)
        #expect(VerifyFinding.allCases.filter { $0.remedy() == .decision } == [.newer, .altered])
        // Where there are no versions, whatever comes last stays: two stacks would undo each other's deletions.
        #expect(VerifyFinding.aliveThere.remedy(keepsVersions: false) == .decision)
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

    @Test func whatWasntComparedIsSaid() {
        var report = VerifyReport(address: "http://there", destination: "uploader")
        report.users = [.init(name: "me")]
        #expect(report.isRight)
        report.noteUncompared(["nights": ["sleep", "workouts"], "workouts": ["sleep", "workouts"]])
        #expect(!report.isRight && report.value["right"] == false)
        #expect(report.value["uncompared"]["nights"] == ["sleep", "workouts"])
        let text = report.text(for: Terminal(isTerminal: false))
        #expect(text.contains("me: 0 samples, 0 days delivered to"))
        #expect(text.contains("Not compared: nights, workouts, since 'sleep', 'workouts' aren't responding.\n"))
        #expect(text.contains("Not everything could be compared (") && !text.contains("holds"))
        #expect(text.contains("'healthbus doctor' says what to do"))
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
