import CPostgreSQL
import Glibc

/// One connection to one database.
///
/// Nothing but looking up the host's name waits longer than its time limit, whatever the network does: libpq is used in
/// non-blocking mode, and its socket is polled. Not thread-safe by design: each connection stays on its owner's thread.
package final class PostgresConnection {
    package let address: PostgresAddress
    let handle: OpaquePointer
    /// The number of seconds allowed for one statement, or for connecting.
    let timeout: Double
    /// Whether the connection can no longer be used.
    package private(set) var isBroken = false

    /// - Parameters:
    ///   - url: including the password, if there is one.
    ///   - timeout: seconds.
    /// - Throws: `PostgresError`.
    package init(url: String, timeout: Double, program: String) throws(PostgresError) {
        address = try PostgresAddress(url: url)
        self.timeout = timeout
        // The URL's own settings take precedence over the following ones, except for the encoding.
        let settings = [
            ("fallback_application_name", program), ("keepalives_idle", "10"), ("keepalives_interval", "5"),
            ("keepalives_count", "3"), ("dbname", url), ("client_encoding", "UTF8"),
        ]
        guard let handle = Self.start(settings) else {
            throw PostgresError(.connection, endpoint: address.description, "there is no memory for a connection")
        }
        self.handle = handle
        // Without this, errors come without their five-character code. Needed only while connecting, before any data is
        // involved.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        // If this throws, `deinit` ends the connection: by now, everything that it needs exists.
        try connect()
        PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        PQsetnonblocking(handle, 1)
        // The server's notices belong in the server's own log.
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
    }

    deinit { PQfinish(handle) }

    private static func start(_ settings: [(String, String)]) -> OpaquePointer? {
        var keys = settings.map { UnsafePointer(strdup($0.0)) } + [nil]
        var values = settings.map { UnsafePointer(strdup($0.1)) } + [nil]
        defer { for text in keys + values { free(UnsafeMutableRawPointer(mutating: text)) } }
        return PQconnectStartParams(&keys, &values, 1)
    }

    private func connect() throws(PostgresError) {
        let deadline = Deadline(timeout)
        var awaits = PGRES_POLLING_WRITING
        while PQstatus(handle) != CONNECTION_BAD {
            if awaits == PGRES_POLLING_OK { return }
            if awaits == PGRES_POLLING_FAILED { break }
            try wait(forWriting: awaits == PGRES_POLLING_WRITING, deadline)
            awaits = PQconnectPoll(handle)
        }
        throw refusal()
    }

    /// Why connecting failed: "…: FATAL:  28P01: password authentication failed for user "anna"", or libpq's own words.
    private func refusal() -> PostgresError {
        let text = String(cString: PQerrorMessage(handle))
        guard let found = text.firstMatch(of: #/:  ([0-9A-Z]{5}): ([^\n]*)/#) else {
            let line = PostgresError.firstLine(text.replacing(#/^connection to server .* failed: /#, with: ""))
            return PostgresError(.connection, endpoint: address.description, "there is no connection: \(line)")
        }
        return PostgresError(
            .server, state: String(found.1), endpoint: address.description,
            PostgresError.firstLine(String(found.2)))
    }

    // MARK: Waiting

    func wait(forWriting: Bool, _ deadline: Deadline) throws(PostgresError) {
        let socket = PQsocket(handle)
        guard socket >= 0 else { throw broken() }
        var entry = pollfd(fd: socket, events: Int16(forWriting ? POLLIN | POLLOUT : POLLIN), revents: 0)
        while true {
            let left = deadline.milliseconds
            guard left > 0 else {
                isBroken = true
                throw PostgresError(
                    .connection, endpoint: address.description, "there was no answer within \(Int(timeout)) s")
            }
            let ready = poll(&entry, 1, left)
            if ready > 0 { return }
            guard ready == 0 || errno == EINTR else { throw broken() }
        }
    }

    /// Sends whatever is waiting in libpq.
    func flush(_ deadline: Deadline) throws(PostgresError) {
        while true {
            let left = PQflush(handle)
            if left == 0 { return }
            guard left > 0 else { throw broken() }
            try wait(forWriting: true, deadline)
            // A server with a lot to send reads nothing until its output has been received.
            guard PQconsumeInput(handle) == 1 else { throw broken() }
        }
    }

    /// The next result; nil after the last.
    func next(_ deadline: Deadline) throws(PostgresError) -> PostgresResult? {
        while PQisBusy(handle) == 1 {
            try wait(forWriting: false, deadline)
            guard PQconsumeInput(handle) == 1 else { throw broken() }
        }
        return PQgetResult(handle).map { PostgresResult($0) }
    }

    func broken() -> PostgresError {
        isBroken = true
        let why = PostgresError.firstLine(String(cString: PQerrorMessage(handle)))
        return PostgresError(.connection, endpoint: address.description, "the connection broke: \(why)")
    }

    /// The error that a result represents; nil if the result isn't an error.
    func error(of result: PostgresResult) -> PostgresError? {
        guard result.isError else { return nil }
        if PQstatus(handle) == CONNECTION_BAD {
            return result.state == nil ? broken() : serverError(result, breaks: true)
        }
        return serverError(result, breaks: false)
    }

    private func serverError(_ result: PostgresResult, breaks: Bool) -> PostgresError {
        if breaks { isBroken = true }
        return PostgresError(state: result.state, endpoint: address.description, said: result.message)
    }
}

/// A moment in the future, by a clock that can't be set.
struct Deadline {
    private let end: ContinuousClock.Instant

    init(_ seconds: Double) { end = ContinuousClock.now + .seconds(seconds) }

    /// The time left; 0 when it is up.
    var milliseconds: Int32 {
        let left = (end - ContinuousClock.now) / .milliseconds(1)
        return left <= 0 ? 0 : Int32(min(left.rounded(.up), 3_600_000))
    }
}
