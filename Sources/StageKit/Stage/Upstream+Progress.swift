import Changelog
import HealthModel
import Protocol

/// How much of an upstream a stage has consumed.
extension Upstream {
    /// Everything up to here has been consumed, except for types that are off.
    package var frontier: SequenceNumber { cursor.frontier(besides: off) }

    /// Everything up to here has been consumed at least once, though the stage may have gone back since.
    package var reached: SequenceNumber { cursor.reached(besides: off) }

    /// How much of each type has been consumed, for the heartbeat; nil if that doesn't differ between types, or while a
    /// backfill is in progress.
    package var consumedByType: AnchorVector? {
        cursor.anchor.exceptions.isEmpty || !cursor.backfill.isEmpty ? nil : cursor.anchor
    }

    /// Whether the live range has been consumed, even if a backfill is still in progress. False before the first hint.
    package var isLive: Bool {
        guard let limit else { return false }
        return !cursor.anchor.isBehind(limit)
    }

    /// Whether at most this many sequence numbers of the live range are left to consume. While new ones keep arriving,
    /// there are always a few left.
    package func isLive(within sequences: Int64) -> Bool {
        guard let limit else { return false }
        return limit.minimum(besides: off) - cursor.anchor.minimum(besides: off) <= sequences
    }

    /// Whether everything within the limit has been consumed. False before the first hint.
    package var isLevel: Bool { isLive && cursor.backfill.isEmpty }
}
