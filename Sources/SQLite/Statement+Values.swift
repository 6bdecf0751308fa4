/// A value that can be bound to a statement's parameter.
///
/// Binding a list of values costs a call for each, so statements that run for each sample bind theirs one by one.
package protocol Bindable {
    func bind(to statement: Statement, _ index: Int)
}

extension Int: Bindable {
    package func bind(to statement: Statement, _ index: Int) { statement.bind(index, self) }
}

extension Int64: Bindable {
    package func bind(to statement: Statement, _ index: Int) { statement.bind(index, self) }
}

extension Double: Bindable {
    package func bind(to statement: Statement, _ index: Int) { statement.bind(index, self) }
}

extension String: Bindable {
    package func bind(to statement: Statement, _ index: Int) { statement.bind(index, self) }
}

extension [UInt8]: Bindable {
    package func bind(to statement: Statement, _ index: Int) { statement.bind(index, self) }
}

extension Optional: Bindable where Wrapped: Bindable {
    package func bind(to statement: Statement, _ index: Int) {
        if let self { self.bind(to: statement, index) } else { statement.bindNull(index) }
    }
}

extension Statement {
    /// Binds all parameters, in order.
    package func with(_ values: any Bindable...) -> Statement {
        for (index, value) in values.enumerated() { value.bind(to: self, index + 1) }
        return self
    }

    /// The results of `body`, one for each row.
    package func rows<Result>(_ body: (Statement) throws -> Result) throws -> [Result] {
        var results: [Result] = []
        try forEachRow { results.append(try body($0)) }
        return results
    }

    /// Whether there is any row.
    package func hasRow() throws -> Bool { try firstRow { _ in true } ?? false }

    /// The number in the first row; nil if there is no row, or if it is NULL.
    package func firstNumber() throws -> Int64? { try firstRow { $0.optional(0) } ?? nil }

    /// The number in a column; nil if it is NULL.
    package func optional(_ column: Int) -> Int64? { isNull(column) ? nil : int64(column) }
}

extension Database {
    /// Whether there is a table with this name: a file that an earlier release has written lacks the newer ones.
    package func hasTable(_ name: String) throws -> Bool {
        try prepare("SELECT 1 FROM sqlite_master WHERE name = ?").with(name).hasRow()
    }

    /// Whether a table has a column: one that an earlier release has made lacks the newer ones.
    package func hasColumn(_ name: String, in table: String) throws -> Bool {
        try prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?").with(table, name).hasRow()
    }
}
