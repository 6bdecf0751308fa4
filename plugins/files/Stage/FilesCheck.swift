import HealthModel
import Protocol

/// The check that files are unchanged since they were written: when it is due, and its result.
struct FilesCheck {
    enum Phase: Equatable {
        case idle
        /// The files in the folder are being listed.
        case listing(effect: Int64)
        /// Files are compared with what was written, in path order.
        case comparing(effect: Int64, last: String)
    }

    private(set) var phase = Phase.idle
    /// The id of a request that hasn't been answered yet.
    private var wanted: String?
    private var answers: String?
    private var answered: String?
    /// At the start, everything is checked.
    private var isDue = true
    /// Whether contents are read, or only sizes.
    private(set) var readsAll = true
    private var nextReadsAll = true
    private(set) var isDone = false
    private(set) var differing: Int64 = 0
    private var compared: Instant?
    private var result: UploaderDetails.Backend.Result?
    private var lacked: Int64?

    var mayBegin: Bool { phase == .idle && (isDue || wanted != nil) }

    /// Whether an effect is the check's own.
    func waits(for effect: Int64) -> Bool {
        switch phase {
        case .idle: false
        case .listing(let own), .comparing(let own, _): own == effect
        }
    }

    mutating func want(_ id: String, readsAll: Bool) {
        guard id != answered, id != answers else { return }
        wanted = id
        nextReadsAll = readsAll || isDue
    }

    mutating func begin(_ effect: Int64) {
        (answers, wanted) = (wanted, nil)
        (readsAll, nextReadsAll) = (nextReadsAll, false)
        isDue = false
        differing = 0
        phase = .listing(effect: effect)
    }

    mutating func compares(_ effect: Int64, last: String) { phase = .comparing(effect: effect, last: last) }
    mutating func found(_ count: Int) { differing += Int64(count) }

    mutating func end(at now: Instant) {
        phase = .idle
        isDone = true
        compared = now
        result = differing > 0 ? .redelivered : .complete
        lacked = differing > 0 ? differing : nil
        answered = answers ?? answered
        answers = nil
    }

    /// Notes that all files are as they should be, according to a proof.
    mutating func proved() { if result == .redelivered { (result, lacked) = (.complete, nil) } }

    /// Notes that the check failed; it starts over once the files are accessible.
    mutating func fail() {
        answered = answers ?? wanted ?? answered
        (answers, wanted) = (nil, nil)
        phase = .idle
        isDue = true
        nextReadsAll = true
    }

    /// - Parameters:
    ///   - why: why the files can't be checked at present.
    ///   - isListed: whether the manifest lists all files in their current state.
    func report(why: String?, isListed: Bool) -> UploaderDetails.Backend {
        .init(
            acceptance: .proven, isCompared: isDone && isListed && phase == .idle && why == nil, compared: compared,
            result: result, missing: lacked, check: answered, why: why)
    }
}
