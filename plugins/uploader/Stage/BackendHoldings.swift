import HTTP
import HealthModel
import JSON
import Protocol

/// What a backend says it holds: the answer to `GET /api/v1/stats`.
package struct BackendHoldings: Sendable, Equatable {
    package var generation: String
    package var sequence: Int64?
    /// Elements that requests have created since the database was made; nil where it doesn't say.
    package var created: Int64?
    /// Keys that it keeps: alive and deleted samples, days, workouts and nights; nil where it doesn't say.
    package var kept: Int64?
    /// Whether it takes samples in columns.
    package var takesColumns = false

    /// nil for a body that isn't such an answer, or that has numbers which can't be true.
    package init?(body: [UInt8]) {
        guard JSONScanner.isUTF8(body) else { return nil }
        var read = Reading()
        do { try body.withUnsafeBytes { try read.take($0) } } catch {
            // It isn't one: that is all there is to know.
            return nil
        }
        guard let generation = read.generation, read.isSensible, read.created != nil || read.kept != nil else {
            return nil
        }
        self.generation = generation
        sequence = read.sequence
        created = read.created
        kept = read.kept
        takesColumns = read.takesColumns
    }

    private struct Reading {
        var generation: String?
        var sequence: Int64?
        var created: Int64?
        var kept: Int64?
        var isSensible = true
        var takesColumns = false

        mutating func take(_ body: UnsafeRawBufferPointer) throws(JSONScanError) {
            var scanner = JSONScanner(body)
            try scanner.beginObject()
            while let name = try scanner.nextMember() {
                if name == "generation" {
                    generation = UploadAnswer.nonce(try scanner.value())
                } else if name == "sequence" {
                    sequence = UploadAnswer.sequence(try scanner.value())
                } else if name == "accepts", scanner.nextIsArray() {
                    try scanner.beginArray()
                    while try scanner.nextElement() {
                        if try scanner.value().text == SampleDelivery.contentType { takesColumns = true }
                    }
                } else if name == "counters", scanner.nextIsObject() {
                    try scanner.beginObject()
                    while let name = try scanner.nextMember() {
                        let span = try scanner.value()
                        if name == "created" { created = count(span) }
                    }
                } else if name == "samples" || name == "days" || name == "workouts" || name == "nights",
                    scanner.nextIsObject()
                {
                    try scanner.beginObject()
                    while let name = try scanner.nextMember() {
                        let span = try scanner.value()
                        guard name == "alive" || name == "deleted" else { continue }
                        let (sum, isTooMuch) = (kept ?? 0).addingReportingOverflow(count(span))
                        kept = sum
                        if isTooMuch { isSensible = false }
                    }
                } else {
                    _ = try scanner.value()
                }
            }
            try scanner.end()
        }

        private mutating func count(_ span: JSONSpan) -> Int64 {
            guard let count = span.integer, count >= 0 else {
                isSensible = false
                return 0
            }
            return count
        }
    }
}

/// What comes of a question what the backend holds. Pure.
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
    case retry(String, after: String? = nil)
    case refusedToken(Int)

    /// - Parameter known: as it was when the question was sent.
    init(_ reply: UploadReply, known: KnownBackend, isBound: Bool) {
        switch reply {
        case .failed(let error): self = .retry(error.description)
        case .noToken(let why): self = .retry(why)
        case .answered(let status, let retryAfter, _, let body):
            if status == 401 || status == 403 {
                self = .refusedToken(status)
            } else if [408, 425, 429, 503].contains(status) {
                self = .retry("the backend answered \(status)", after: retryAfter)
            } else if status == 200, let holdings = BackendHoldings(body: body) {
                self = Self.compare(holdings, known, isBound)
            } else if isBound {
                self = .retry("something answered \(status) that isn't the backend that was known")
            } else {
                self = .trust
            }
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
