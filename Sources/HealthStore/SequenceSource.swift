import HealthModel

/// Provides the sequence of each change: the one counter of the file, which the store shares with everything else that
/// changes there.
///
/// It rises strictly, with gaps allowed, and is saved in the transaction that the change is part of.
package protocol SequenceSource: AnyObject {
    /// The latest one given out.
    var sequence: SequenceNumber { get }
    func nextSequence() -> SequenceNumber
}
