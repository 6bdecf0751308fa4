import CSQLite

extension Database {
    /// Registers the SQL function `name(x)`, which passes the integer x to `body` and returns it.
    ///
    /// In the SET part of an upsert it reveals which value was replaced, without RETURNING, whose temporary table costs
    /// more than the write itself. `body` is called on the connection's thread, while the statement is stepped.
    package func addObserver(named name: String, _ body: @escaping (Int64) -> Void) throws {
        let context = Unmanaged.passRetained(IntegerObserver(body)).toOpaque()
        // SQLite calls the destructor even if it refuses the function.
        let code = sqlite3_create_function_v2(
            handle, name, 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, context,
            { call, _, arguments in
                guard let call, let arguments, let context = sqlite3_user_data(call) else { return }
                let integer = sqlite3_value_int64(arguments[0])
                Unmanaged<IntegerObserver>.fromOpaque(context).takeUnretainedValue().body(integer)
                sqlite3_result_int64(call, integer)
            }, nil, nil,
            { context in
                if let context { Unmanaged<IntegerObserver>.fromOpaque(context).release() }
            })
        if code != SQLITE_OK { throw error(code, "create function \(name)") }
    }
}

private final class IntegerObserver {
    let body: (Int64) -> Void
    init(_ body: @escaping (Int64) -> Void) { self.body = body }
}
