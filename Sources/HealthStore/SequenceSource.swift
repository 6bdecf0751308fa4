import HealthModel

/// Gives the sequence of each change: the one counter of the file that the store shares with whatever else changes in it.
///
/// It rises strictly, holes are allowed, and what it has given out is saved in the transaction that the change is part of.
package protocol SequenceSource: AnyObject {
    /// The newest one given out.
    var sequence: SequenceNumber { get }
    func nextSequence() -> SequenceNumber
}
