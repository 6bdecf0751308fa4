import HTTP
import HealthModel
import Protocol

/// The place where a backend stores what it accepts. Used for one request at a time.
///
/// Any error it throws other than `SyncRefusal` and `JSONScanError` is a failure of the storage, and the request is to
/// be sent again: usually nothing in it is stored, but PostgreSQL may also fail just after the commit.
protocol BackendStorage: AnyObject {
    /// Whether the storage is still where the next start will look for it.
    var isInPlace: Bool { get }

    /// Lets `body` make requests that all see the same state, and reports which state that is.
    func reading<Answer>(_ body: (BackendState) throws -> Answer) throws -> Answer

    /// Begins a new generation when a caller has seen more of this one than the database holds, since it is then an
    /// older copy.
    /// - Returns: the sequence that the database held; nil when there was nothing to do.
    func beginAgain(unlessReached seen: SeenBackend) throws -> Int64?

    /// Stores the elements of a request, and commits them all at the end.
    func write(_ envelope: SyncEnvelope, metric: SyncMetric, now: Instant) throws -> (SyncOutcome, BackendState)

    /// Stores a body in columns in the same way; it has already been checked as a whole.
    func write(_ delivery: SampleDelivery, now: Instant) throws -> (SyncOutcome, BackendState)

    /// A page of samples that aren't deleted, ordered by id.
    func samples(_ question: Question) throws -> HTTPResponse

    /// A page of documents that aren't deleted, ordered by id.
    func documents(_ kind: DocumentKind, _ question: Question) throws -> HTTPResponse

    /// A page of everything stored, including tombstones, ordered by id.
    /// - Parameter withContents: whether to include each element's `ContentNumber`, which is 0 for a deleted element or
    ///   one that can no longer be read.
    func versions(
        _ question: Question, list: VersionList, withContents: Bool, state: BackendState
    ) throws -> HTTPResponse

    /// A page of what has changed since a cursor, tombstones included.
    func changes(_ question: ChangesQuestion, state: BackendState, now: Instant) throws -> HTTPResponse

    /// Counts all rows, and begins a new generation if some are missing.
    /// - Returns: how many are missing; nil if none are.
    func repairRows() throws -> Int64?

    /// - Parameter user: nil for all users.
    func holdings(of user: String?) throws -> BackendHoldings
}
