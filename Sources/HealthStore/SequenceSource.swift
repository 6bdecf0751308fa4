import HealthModel

/// Provides the sequence for each change. It comes from the file's only counter, which the store shares with everything
/// else that changes in the file.
///
/// The counter only ever increases, possibly with gaps, and is saved in the same transaction as the change.
package protocol SequenceSource: AnyObject {
    /// The latest sequence provided.
    var sequence: SequenceNumber { get }
    func nextSequence() -> SequenceNumber
}
