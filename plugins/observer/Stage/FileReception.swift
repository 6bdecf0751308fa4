import HealthModel
import MessageBus
import Protocol
import StageKit

/// One file that comes over the bus in pieces. The observer asks for them, so that order, repetition and back-pressure are its own: one request is under
/// way while the pieces of the one before are being written. How much is here is the length of the file in the inbox, and nothing else.
struct FileReception {
    let id: String
    let sender: String
    /// When the sender last said that it is there, by the clock that never jumps.
    var heard: MonotonicTime
    /// Up to which byte pieces have come; nil until the inbox has told what is there from before.
    private(set) var arrived: Int64?
    private(set) var pull: Pull?
    /// Pieces that wait for those before them to be written.
    private var waiting: FilePieces?
    private var isWriting = false
    private var isMeasuring = false
    private var isWhole = false
    private var mismatches = 0

    /// A sender that says nothing for so long is given up; the file waits for another.
    static let patience = Duration.seconds(10)

    init(id: String, sender: String, heard: MonotonicTime) {
        self.id = id
        self.sender = sender
        self.heard = heard
    }

    /// Asks for, and has written, what is next.
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

    /// Takes the answer to its pull.
    /// - Returns: why it can't go on, if so.
    mutating func take(_ answer: PullAnswer) -> String? {
        pull = nil
        switch answer.result {
        case .refused(let reason): return reason
        case .reset, .databaseInaccessible: return "its sender can't give it"
        case .pages(let pages):
            guard let arrived, let pieces = FilePieces(pages, at: arrived) else {
                return "what its sender gave can't be read; run both from one release"
            }
            self.arrived = pieces.end
            isWhole = pieces.whole != nil
            waiting = pieces
            return nil
        }
    }

    /// The inbox has told how much is there, or has written what it was given.
    mutating func stored(upTo length: Int64) {
        if isMeasuring { arrived = length }
        isMeasuring = false
        isWriting = false
    }

    /// What arrived isn't what was sent, and has been thrown away.
    /// - Returns: whether it is worth another try.
    mutating func beginAgain() -> Bool {
        mismatches += 1
        (arrived, waiting, isWriting, isWhole) = (0, nil, false, false)
        return mismatches == 1
    }
}
