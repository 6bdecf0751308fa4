/// What went wrong with a database, and where. Contains neither passwords nor values: it keeps only the first line of
/// the server's message, which is about the statement as a whole, and nothing about refused data.
package struct PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        /// The URL can't be read.
        case url
        /// There is no connection, it broke, or there was no answer in time.
        case connection
        /// The server answered with an error.
        case server
    }

    package let kind: Kind
    /// The five-character code of the error, whatever the server's language; nil if no server answered.
    package let state: String?
    /// "127.0.0.1:5432/health".
    package let endpoint: String
    package let message: String

    /// Whether a table, schema, column, key or partition that existed when the connection began is missing.
    package var meansOtherTables: Bool {
        state.map { ["42P01", "3F000", "42703", "42P10", "23514"].contains($0) } ?? false
    }

    package init(_ kind: Kind, state: String? = nil, endpoint: String, _ message: String) {
        (self.kind, self.state, self.endpoint, self.message) = (kind, state, endpoint, message)
    }

    package var description: String { "\(endpoint): \(message)" + (state.map { " (\($0))" } ?? "") }

    /// A server's error message in reply to a statement.
    init(state: String?, endpoint: String, said message: String) {
        // Classes 22 and 23 are about data, and about constraints on data. Their messages may quote the data.
        let isOfData = state?.hasPrefix("22") ?? false || state?.hasPrefix("23") ?? false
        self.init(
            .server, state: state, endpoint: endpoint,
            isOfData ? "the database can't store a value" : Self.firstLine(message))
    }

    static func firstLine(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).first.map { String($0) } ?? "no reason given"
        return String(line.prefix(300))
    }
}
