import HealthModel
import MessageBus
import Protocol
import StageKit

/// One file that comes over the bus in pieces. The observer asks for them, so that it controls order, repetition and
/// back-pressure: it requests the next pieces while the previous ones are being written. Only the length of the file in
/// the inbox says how much has arrived.
struct FileReception {
    let id: String
    let sender: String
    /// When the sender last reported that it is running, by the monotonic clock.
    var heard: MonotonicTime
    /// How many bytes have arrived; nil until the inbox has reported what is left from earlier.
    private(set) var arrived: Int64?
    private(set) var pull: Pull?
    /// Pieces waiting for the previous ones to be written.
    private var waiting: FilePieces?
    private var isWriting = false
    private var isMeasuring = false
    private var isWhole = false
    private var mismatches = 0

    /// A sender that is silent for this long is given up; the file waits for a new one.
    static let patience = Duration.seconds(10)

    init(id: String, sender: String, heard: MonotonicTime) { (self.id, self.sender, self.heard) = (id, sender, heard) }

    /// Requests the next pieces, and has the inbox write those that have arrived.
    mutating func advance(_ turn: Turn) {
        guard let arrived else {
            if !isMeasuring { turn.perform(ObserverEffect.measure(id: id)) }
            isMeasuring = true
            return
        }
        if !isWriting, let pieces = waiting {
            waiting = nil
            isWriting = true
            turn.perform(ObserverEffect.append(id: id, pieces))
        }
        if pull == nil, waiting == nil, !isWhole {
            pull = turn.pull(sender, .file(id: id, offset: arrived))
        }
    }

    /// Accepts the answer to its pull.
    /// - Returns: why it can't continue; nil when it can.
    mutating func take(_ answer: PullAnswer) -> String? {
        pull = nil
        switch answer.result {
        case .refused(let reason): return reason
        case .reset, .databaseInaccessible: return "its sender can't send it"
        case .pages(let pages):
            guard let arrived, let pieces = FilePieces(pages, at: arrived) else {
                return "what was sent can't be read; run the same release on both sides"
            }
            self.arrived = pieces.end
            isWhole = pieces.whole != nil
            waiting = pieces
            return nil
        }
    }

    /// Notes that the inbox has measured how much of the file it has, or has written the pieces that it was given.
    mutating func stored(upTo length: Int64) {
        if isMeasuring { arrived = length }
        isMeasuring = false
        isWriting = false
    }

    /// Starts over because what arrived isn't what was sent and has been discarded.
    /// - Returns: whether it is worth another attempt.
    mutating func beginAgain() -> Bool {
        mismatches += 1
        (arrived, waiting, isWriting, isWhole) = (0, nil, false, false)
        return mismatches == 1
    }
}
