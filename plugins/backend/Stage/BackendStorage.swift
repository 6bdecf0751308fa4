import HTTP
import HealthModel
import Protocol

/// Where a backend keeps what it takes. Asked for one thing at a time.
///
/// What it throws, but for `SyncRefusal`, is its failure: then nothing of the request is kept.
protocol BackendStorage: AnyObject {
    /// Whether it is still where the next start looks for it.
    var isInPlace: Bool { get }

    /// Lets `body` ask for something of one moment, and says which.
    func reading<Answer>(_ body: (BackendState) throws -> Answer) throws -> Answer

    /// Begins a new generation, when a caller has seen more of this one than it holds: it is an older copy of itself.
    /// - Returns: the sequence that it held; nil when nothing was to be done.
    func beginAnew(unlessReached seen: SeenBackend) throws -> Int64?

    /// Takes the elements of a request, all of them committed at the end.
    func write(_ envelope: SyncEnvelope, metric: SyncMetric, now: Instant) throws -> (SyncOutcome, BackendState)

    /// The same of a body in columns, which has been checked as a whole.
    func write(_ delivery: SampleDelivery, now: Instant) throws -> (SyncOutcome, BackendState)

    /// A page of living samples in the order of their ids.
    func samples(_ question: Question) throws -> HTTPResponse

    /// A page of living documents in the order of their ids.
    func documents(_ kind: DocumentKind, _ question: Question) throws -> HTTPResponse

    /// A page of all that is kept, tombstones too, in the order of ids.
    /// - Parameter withContents: with the `ContentNumber` of each living element; 0 for deleted ones, and for what can't be read any more.
    func versions(
        _ question: Question, list: VersionList, withContents: Bool, state: BackendState
    ) throws -> HTTPResponse

    /// Counts all rows, and begins a new generation where some are missing.
    /// - Returns: how many; nil for none.
    func mendRows() throws -> Int64?

    /// - Parameter user: nil for all.
    func holdings(of user: String?) throws -> BackendHoldings
}
