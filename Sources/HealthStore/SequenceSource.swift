import HealthModel

/// Provides the sequence for each change, from the file's only counter, which the store shares with everything else
/// that changes in the file.
///
/// It only ever increases, possibly with gaps, and is saved in the same transaction as the change.
package protocol SequenceSource: AnyObject {
    /// The latest one given out.
    var sequence: SequenceNumber { get }
    func nextSequence() -> SequenceNumber
}
