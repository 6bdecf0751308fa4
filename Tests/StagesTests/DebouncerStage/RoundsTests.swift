import Changelog
import DebouncerStage
import HealthModel
import Protocol
import TestSupport
import Testing

@Suite struct RoundsTests {
    private var rounds = Rounds(patience: .seconds(60))

    private mutating func release(_ targets: [String: SequenceNumber], at seconds: Int64 = 0) -> Int64 {
        rounds.release(
            targets.mapValues { AnchorVector(base: $0) }, reason: "fire", now: Instant(seconds: seconds),
            monotonic: .seconds(seconds))
    }

    private mutating func hear(
        _ consumer: String, _ frontier: SequenceNumber, at seconds: Int64, _ details: [String: Value] = [:]
    ) {
        rounds.heard(
            beat(consumer, head(1), frontier: ["observer": frontier], details: details), of: "observer",
            at: .seconds(seconds))
    }

    private mutating func ended(at seconds: Int64) -> [Rounds.Round] { rounds.ended(at: .seconds(seconds)) }

    /// Neither a message that someone else sends in a consumer's name, nor a late one from the consumer itself, undoes
    /// anything.
    @Test mutating func whatWasReachedStaysReached() {
        _ = release(["steps": 10])
        hear("steps", 10, at: 1)
        hear("steps", 3, at: 1)
        let round = ended(at: 2).first
        #expect(round?.isSuccess == true && round?.succeeded == ["steps": .seconds(1)])
    }

    @Test mutating func endsWhenAllHaveConsumedWhatWasReleased() {
        _ = release(["steps": 10, "sleep": 10])
        hear("steps", 10, at: 1)
        #expect(ended(at: 1).isEmpty)
        hear("sleep", 9, at: 2)
        #expect(ended(at: 2).isEmpty)
        hear("sleep", 10, at: 3)
        let round = ended(at: 3).first
        #expect(round?.isSuccess == true && round?.duration == .seconds(3))
        #expect(round?.succeeded == ["steps": .seconds(1), "sleep": .seconds(3)])
        #expect(round?.summary == "sleep, steps succeeded")
        #expect(rounds.open == nil && rounds.nextDeadline == nil)
    }

    @Test mutating func silenceAndStandstillAreFailures() {
        _ = release(["steps": 10, "sleep": 10, "energy": 10])
        for seconds in Int64(1)...62 {
            hear("sleep", 5, at: seconds, ["pending": 3])
            hear("energy", SequenceNumber(seconds / 10), at: seconds)
            #expect(ended(at: seconds).isEmpty)
            if seconds == 16 { #expect(rounds.open?.failed == ["steps": "not heard"]) }
        }
        hear("energy", 10, at: 63)
        let round = ended(at: 63).first
        #expect(round?.summary == "energy succeeded; sleep failed (no progress), steps failed (not heard)")
    }

    @Test mutating func daysThatCouldNotBeComputedAreAFailure() {
        _ = release(["steps": 10])
        hear("steps", 10, at: 1, ["failedDays": 2])
        #expect(ended(at: 1).first?.failed == ["steps": "2 days couldn't be computed"])
    }

    @Test mutating func whatIsReleasedMeanwhileBelongsToTheNextRound() {
        let first = release(["steps": 10])
        let second = release(["steps": 20])
        #expect(release(["sleep": 25]) == second && second == first + 1)
        hear("steps", 10, at: 1)
        #expect(ended(at: 1).map(\.number) == [first])
        hear("steps", 20, at: 2)
        hear("sleep", 25, at: 2)
        #expect(ended(at: 2).map(\.number) == [second])
    }

    /// A slow destination makes neither a metric's times look longer, nor shorter because its round begins late.
    @Test mutating func aConsumersTimeBeginsWithItsOwnRelease() {
        _ = release(["steps": 10, "uploader": 10])
        hear("steps", 10, at: 1)
        _ = release(["steps": 20, "uploader": 20], at: 2)
        hear("steps", 20, at: 5)
        _ = release(["steps": 30], at: 6)
        hear("steps", 30, at: 7)
        hear("uploader", 10, at: 10)
        #expect(ended(at: 10).map(\.succeeded) == [["steps": .seconds(1), "uploader": .seconds(10)]])
        hear("uploader", 20, at: 14)
        let second = ended(at: 14).first
        #expect(second?.succeeded == ["steps": .seconds(1), "uploader": .seconds(12)])
        #expect(second?.duration == .seconds(12))
    }

    /// The first release, whose changes nobody has counted, many changes at once, and what goes on beside an import
    /// don't show how fast syncs usually are.
    @Test mutating func roundsWithMuchToDoAreNotUsual() {
        func usual(_ sequence: SequenceNumber, _ isUsual: Bool = true) -> Bool? {
            rounds.release(
                ["steps": AnchorVector(base: sequence)], reason: "fire", isUsual: isUsual, now: 0, monotonic: 0)
            hear("steps", sequence, at: 1)
            return ended(at: 1).first?.isUsual
        }
        #expect(usual(10) == false)
        #expect(usual(10 + .init(Rounds.manyChanges)) == true)
        #expect(usual(11 + .init(2 * Rounds.manyChanges)) == false)
        #expect(usual(20 + .init(2 * Rounds.manyChanges), false) == false)
        #expect(usual(30 + .init(2 * Rounds.manyChanges)) == true)
        rounds.reset()
        #expect(usual(40) == false)
    }

    @Test mutating func aTypeThatWaitsHoldsNoRoundUp() {
        rounds.release(
            ["steps": AnchorVector(base: 10, exceptions: ["b": 4])], reason: "fire", now: 0, monotonic: 0)
        // The frontier is the lowest over all types, and on its own would never reach the target.
        hear("steps", 4, at: 1)
        #expect(ended(at: 1).isEmpty)
        hear("steps", 4, at: 2, ["consumed": ["base": 10, "types": ["b": 4]]])
        #expect(ended(at: 2).first?.isSuccess == true)
    }
}
