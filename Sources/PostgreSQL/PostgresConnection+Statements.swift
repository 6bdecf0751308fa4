import CPostgreSQL

extension PostgresConnection {
    /// Runs one or more statements without parameters.
    /// - Returns: the result of the last statement.
    /// - Throws: `PostgresError`.
    @discardableResult
    package func execute(_ statements: String) throws(PostgresError) -> PostgresResult? {
        guard !isBroken, PQsendQuery(handle, statements) == 1 else { throw broken() }
        return try results(Deadline(timeout))
    }

    /// Runs one statement.
    /// - Parameter values: the values of $1, $2, …; nil stands for NULL. They are sent as text: write `$1::bigint` if
    ///   the type isn't clear.
    package func execute(_ statement: String, _ values: [String?]) throws(PostgresError) -> PostgresResult {
        let deadline = Deadline(timeout)
        let sent = Self.withPointers(to: values) {
            PQsendQueryParams(handle, statement, Int32(values.count), nil, $0, nil, nil, 0)
        }
        guard !isBroken, sent == 1 else { throw broken() }
        guard let result = try results(deadline) else { throw broken() }
        return result
    }

    private static func withPointers<T>(
        to texts: [String?], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> T
    ) -> T {
        // One buffer, so that every string stays in place while libpq copies it.
        var places: [Int?] = []
        var bytes: [CChar] = []
        for text in texts {
            places.append(text == nil ? nil : bytes.count)
            if let text { bytes += text.utf8CString }
        }
        return bytes.withUnsafeBufferPointer { buffer in
            let list = places.map { place -> UnsafePointer<CChar>? in
                guard let place, let base = buffer.baseAddress else { return nil }
                return base + place
            }
            return list.withUnsafeBufferPointer { body($0.baseAddress) }
        }
    }

    /// Reads all results; the first error is thrown once the connection is ready for the next statement.
    private func results(_ deadline: Deadline) throws(PostgresError) -> PostgresResult? {
        try flush(deadline)
        var last: PostgresResult?
        var problem: PostgresError?
        while let result = try next(deadline) {
            if let error = error(of: result) { problem = problem ?? error }
            if result.status == PGRES_COPY_IN { return result }
            last = result
        }
        if let problem { throw problem }
        return last
    }

    /// Feeds a `COPY … FROM STDIN`.
    /// - Returns: how many rows were copied.
    @discardableResult
    package func copy(_ statement: String, _ bytes: [UInt8]) throws(PostgresError) -> Int {
        let deadline = Deadline(timeout)
        guard !isBroken, PQsendQuery(handle, statement) == 1 else { throw broken() }
        guard let begun = try results(deadline), begun.status == PGRES_COPY_IN else { throw broken() }
        var place = 0
        while place < bytes.count {
            let size = min(Self.copyPiece, bytes.count - place)
            let sent = bytes.withUnsafeBytes { all in
                PQputCopyData(
                    handle, all.baseAddress.map { ($0 + place).assumingMemoryBound(to: CChar.self) }, Int32(size))
            }
            guard sent >= 0 else { throw broken() }
            if sent == 1 { place += size }
            try flush(deadline)
        }
        while true {
            let ended = PQputCopyEnd(handle, nil)
            guard ended >= 0 else { throw broken() }
            if ended == 1 { break }
            try flush(deadline)
        }
        return try results(deadline)?.affected ?? 0
    }

    /// The number of bytes of a copy handed to libpq at a time.
    private static let copyPiece = 1 << 18

    /// Runs `body` in a transaction, which is rolled back when it throws.
    package func transaction<T>(_ body: () throws -> T) throws -> T {
        try execute("BEGIN")
        do {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // A lost connection takes its transaction with it.
            if !isBroken {
                do throws(PostgresError) { try execute("ROLLBACK") } catch { _ = broken() }
            }
            throw error
        }
    }
}
