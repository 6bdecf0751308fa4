import JSON
import SQLite

/// Which database this is, and its sequence number: from these a caller can see that the database was lost, or
/// restored from an older copy.
struct BackendState: Equatable {
    /// Random, created with the database; replaced when the database turns out to be an older copy, or to lack rows.
    var generation: String
    /// Rises with each request that changed something.
    var sequence: Int64

    /// `"generation":…,"sequence":…`
    func append(to out: inout [UInt8]) {
        out.append(json: "\"generation\":")
        out.append(jsonString: generation)
        out.append(json: ",\"sequence\":")
        out.append(json: sequence)
    }
}

/// The state of a database in SQLite, which has a single writer.
final class BackendIdentity {
    private(set) var state: BackendState
    /// The sequence of the current transaction, which may still be rolled back.
    private var pending: Int64?
    private let database: Database
    private let put: Statement

    init(_ database: Database) throws {
        self.database = database
        state = BackendState(
            generation: try BackendSchema.meta("generation", in: database),
            sequence: try Int64(BackendSchema.meta("sequence", in: database)) ?? 0)
        put = try database.prepare("INSERT OR REPLACE INTO meta(key, value) VALUES(?1, ?2)")
    }

    static func nonce() -> String {
        var random = SystemRandomNumberGenerator()
        return String(random.next() as UInt64, radix: 16) + String(random.next() as UInt64, radix: 16)
    }

    /// Advances the sequence for the current transaction's change.
    func advance() throws {
        try set("sequence", String(state.sequence + 1))
        pending = state.sequence + 1
    }

    func committed() {
        state.sequence = pending ?? state.sequence
        pending = nil
    }

    func forget() { pending = nil }

    /// Begins a new generation if a caller has seen a sequence that the current generation never reached.
    /// - Returns: whether it did; if so, the new generation is already committed.
    func beginAgain(unlessReached seen: SeenBackend) throws -> Bool {
        guard seen.isBeyond(state) else { return false }
        try beginAgain(at: seen.sequence)
        return true
    }

    /// Begins a new generation: every caller delivers everything again. `change` is committed with it.
    func beginAgain(at sequence: Int64, with change: () throws -> Void = {}) throws {
        let next = Self.nonce()
        try database.transaction {
            try change()
            try set("generation", next)
            try set("sequence", String(sequence))
        }
        state = BackendState(generation: next, sequence: sequence)
    }

    private func set(_ key: String, _ value: String) throws {
        try put.with(key, value).run()
    }
}

/// What a caller has seen of a backend: the highest sequence of a generation.
struct SeenBackend {
    static let header = "Healthbus-Seen"

    var generation: String
    var sequence: Int64

    /// The limit up to which JSON's numbers are exact, and far beyond any real database.
    private static let highest: Int64 = 1 << 53

    /// Reads "9c1f6f… 4711"; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let number = Int64(parts[1]), (0...Self.highest).contains(number)
        else { return nil }
        generation = String(parts[0])
        sequence = number
    }

    /// Whether it is beyond what a database of the same generation holds, which means that the database is an older
    /// copy.
    func isBeyond(_ state: BackendState) -> Bool { generation == state.generation && sequence > state.sequence }
}
