/// What a destination says it holds.
package struct BackendHoldings: Sendable, Equatable {
    package var generation: String
    package var sequence: Int64?
    /// Elements that requests have created since the database was made; nil where it doesn't say.
    package var created: Int64?
    /// Keys that it keeps: alive and deleted samples, days, workouts and nights; nil where it doesn't say.
    package var kept: Int64?
    /// Whether it takes samples in columns.
    package var takesColumns = false

    package init(
        generation: String, sequence: Int64? = nil, created: Int64? = nil, kept: Int64? = nil,
        takesColumns: Bool = false
    ) {
        self.generation = generation
        self.sequence = sequence
        self.created = created
        self.kept = kept
        self.takesColumns = takesColumns
    }
}

/// What came of the question what it holds.
package enum HoldingsReply: Sendable, Equatable {
    case holds(BackendHoldings)
    /// It answered, and says nothing of what it holds: believed of one that never showed who it is. What happened, for people.
    case silent(String)
    /// It can't be told now: why, for people.
    case later(String, AskedWait? = nil)
    /// The proof of who we are is refused: what happened, for people.
    case refusesToken(String)
}

/// What comes of a question what the destination holds. Pure.
enum HoldingsVerdict: Sendable, Equatable {
    /// It holds at least what it said it took.
    case complete(BackendHoldings)
    /// It shows another generation than is known, or the first.
    case shows(BackendHoldings)
    /// It has forgotten requests, or elements: so many, where that can be told.
    case lacks(BackendHoldings, missing: Int64?)
    /// A server that says nothing of what it holds.
    case trust
    /// It can't be told now; why.
    case retry(String, after: AskedWait? = nil)
    case refusedToken(String)

    /// - Parameter known: as it was when the question was sent.
    init(_ reply: HoldingsReply, known: KnownBackend, isBound: Bool) {
        switch reply {
        case .holds(let holdings): self = Self.compare(holdings, known, isBound)
        case .silent(let why): self = isBound ? .retry(why) : .trust
        case .later(let why, let wait): self = .retry(why, after: wait)
        case .refusesToken(let why): self = .refusedToken(why)
        }
    }

    private static func compare(_ holdings: BackendHoldings, _ known: KnownBackend, _ isBound: Bool) -> HoldingsVerdict
    {
        guard isBound, holdings.generation == known.generation else { return .shows(holdings) }
        let least = min(holdings.created ?? .max, holdings.kept ?? .max)
        if least < known.created { return .lacks(holdings, missing: known.created - least) }
        if let before = known.sequence, let now = holdings.sequence, now < before {
            return .lacks(holdings, missing: nil)
        }
        return .complete(holdings)
    }
}
