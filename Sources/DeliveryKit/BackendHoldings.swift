/// What a destination says it holds.
package struct BackendHoldings: Sendable, Equatable {
    package var generation: String
    package var sequence: Int64?
    /// The number of elements created by requests since the database was created; nil if the destination doesn't say.
    package var created: Int64?
    /// The number of keys it has: current and deleted samples, days, workouts and nights; nil if the destination
    /// doesn't say.
    package var kept: Int64?
    /// Whether it accepts samples in columns.
    package var takesColumns = false

    package init(
        generation: String, sequence: Int64? = nil, created: Int64? = nil, kept: Int64? = nil,
        takesColumns: Bool = false
    ) {
        (self.generation, self.sequence, self.created, self.kept) = (generation, sequence, created, kept)
        self.takesColumns = takesColumns
    }
}

/// The answer of a destination that was asked what it holds.
package enum HoldingsReply: Sendable, Equatable {
    case holds(BackendHoldings)
    /// It answered without saying what it holds, which is trusted only from a destination that never identified itself;
    /// the text says what happened.
    case silent(String)
    /// There is no answer at present; the text gives the reason.
    case later(String, AskedWait? = nil)
    /// Our credentials were refused; the text says what happened.
    case refusesToken(String)
}

/// The conclusion from a destination's answer about what it holds. Pure.
enum HoldingsVerdict: Sendable, Equatable {
    /// It holds at least everything it said it accepted, or isn't the known one.
    case complete(BackendHoldings)
    /// It has forgotten requests or elements; their number is given if it is known.
    case lacks(BackendHoldings, missing: Int64?)
    /// The server doesn't say what it holds.
    case trust
    /// There is no conclusion at present; the text gives the reason.
    case retry(String, after: AskedWait? = nil)
    case refusedToken(String)

    /// - Parameter known: what was known about the backend when the question was sent.
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
        guard isBound, holdings.generation == known.generation else { return .complete(holdings) }
        let least = min(holdings.created ?? .max, holdings.kept ?? .max)
        if least < known.created { return .lacks(holdings, missing: known.created - least) }
        if let before = known.sequence, let now = holdings.sequence, now < before {
            return .lacks(holdings, missing: nil)
        }
        return .complete(holdings)
    }
}
