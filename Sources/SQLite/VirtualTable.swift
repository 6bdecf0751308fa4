import CSQLite

/// A table that is computed while a statement reads it: SQLite says what it needs to know, and which rows it wants.
///
/// Its own statements run on the same connection, and so see the same state of the file.
package protocol VirtualTable: AnyObject {
    /// The columns, as in CREATE TABLE.
    var columns: String { get }

    /// Roughly how many rows are visited if `rows` is given these comparisons.
    func visited(_ comparisons: [TableCondition.Comparison]) -> Double

    /// Whether `rows` can visit fewer rows if it knows this.
    func isOfUse(_ comparison: TableCondition.Comparison) -> Bool

    /// Whether `rows` can return them in this order, or all that are equal in it one after the other.
    /// - Parameter needed: the columns that will be read, one bit each.
    func isOrdered(by order: [TableOrder], needed: UInt64) -> Bool

    /// Rows that may satisfy the conditions, at least all that do: SQLite checks each of them again.
    /// - Parameter order: empty if it doesn't matter.
    func rows(_ conditions: [TableCondition], needed: UInt64, order: [TableOrder]) throws -> any VirtualRows
}

/// A term of ORDER BY, GROUP BY or DISTINCT: a column, compared as SQLite does without a collation.
package struct TableOrder {
    package let column: Int
    package let isDescending: Bool
}

/// What rows must satisfy: a column's comparison with a text.
package struct TableCondition {
    package enum Operator { case equal, atLeast, atMost }

    package struct Comparison {
        package let column: Int
        package let comparison: Operator
    }

    package let comparison: Comparison
    /// One of these, for `equal`.
    package let texts: [String]
}

/// Rows that are read once, from the first to the last.
package protocol VirtualRows: AnyObject {
    /// Goes to the next row, at first to the first one; false at the end.
    func advance() throws -> Bool

    func write(_ column: Int, to result: ColumnResult)
}

/// The place of one value of a row. Without a call it is NULL.
package struct ColumnResult {
    fileprivate let context: OpaquePointer

    package func integer(_ value: Int64) { sqlite3_result_int64(context, value) }
    package func real(_ value: Double) { sqlite3_result_double(context, value) }
    package func text(_ utf8: [UInt8]) {
        utf8.withUnsafeBytes { healthbus_result_text(context, $0.baseAddress, Int32($0.count)) }
    }
    package func value(_ statement: Statement, _ column: Int) { statement.pass(column, to: context) }
}

extension Database {
    /// Gives this connection a table `name`, which goes before one of that name in the file.
    package func add(_ table: some VirtualTable, named name: String) throws {
        let object = Unmanaged.passRetained(TableBox(table)).toOpaque()
        // SQLite calls the destructor even if it refuses the module.
        let code = sqlite3_create_module_v2(handle, name, VirtualModule.address, object) { object in
            if let object { Unmanaged<TableBox>.fromOpaque(object).release() }
        }
        if code != SQLITE_OK { throw error(code, "create module \(name)") }
        try execute("CREATE VIRTUAL TABLE temp.\(name) USING \(name)")
    }
}

/// A table, with the plans that SQLite has asked for. It refers to a plan by its place.
private final class TableBox {
    struct Plan {
        var comparisons: [(comparison: TableCondition.Comparison, isList: Bool)] = []
        var needed: UInt64
        var order: [TableOrder] = []
    }

    let table: any VirtualTable
    var plans: [Plan] = []

    init(_ table: any VirtualTable) { self.table = table }
}

/// What SQLite hands around begins with its own part.
private struct TableHandle {
    var base = sqlite3_vtab()
    let box: Unmanaged<TableBox>
}

private struct CursorHandle {
    var base: sqlite3_vtab_cursor
    let box: Unmanaged<TableBox>
    var rows: (any VirtualRows)?
    var isAtEnd = true
    var number: Int64 = 0
}

private enum VirtualModule {
    /// SQLite keeps the address as long as a connection is open.
    nonisolated(unsafe) static let address: UnsafePointer<sqlite3_module> = {
        let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        module.initialize(to: sqlite3_module())
        module.pointee.xCreate = connect
        module.pointee.xConnect = connect
        module.pointee.xBestIndex = plan
        module.pointee.xDisconnect = disconnect
        module.pointee.xDestroy = disconnect
        module.pointee.xOpen = open
        module.pointee.xClose = close
        module.pointee.xFilter = filter
        module.pointee.xNext = next
        module.pointee.xEof = { cursor in CursorHandle.at(cursor)?.pointee.isAtEnd == false ? 0 : 1 }
        module.pointee.xColumn = { cursor, context, column in
            guard let cursor = CursorHandle.at(cursor), let context else { return SQLITE_MISUSE }
            cursor.pointee.rows?.write(Int(column), to: ColumnResult(context: context))
            return SQLITE_OK
        }
        module.pointee.xRowid = { cursor, number in
            number?.pointee = CursorHandle.at(cursor)?.pointee.number ?? 0
            return SQLITE_OK
        }
        return UnsafePointer(module)
    }()

    private typealias Connect =
        @convention(c) (
            OpaquePointer?, UnsafeMutableRawPointer?, Int32, UnsafePointer<UnsafePointer<CChar>?>?,
            UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?,
            UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        ) -> Int32

    private static let connect: Connect = { handle, object, _, _, table, _ in
        guard let handle, let object, let table else { return SQLITE_MISUSE }
        let box = Unmanaged<TableBox>.fromOpaque(object)
        let code = sqlite3_declare_vtab(handle, "CREATE TABLE t(\(box.takeUnretainedValue().table.columns))")
        guard code == SQLITE_OK else { return code }
        let made = UnsafeMutablePointer<TableHandle>.allocate(capacity: 1)
        made.initialize(to: TableHandle(box: box))
        table.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab.self)
        return SQLITE_OK
    }

    private static let disconnect: @convention(c) (UnsafeMutablePointer<sqlite3_vtab>?) -> Int32 = { table in
        UnsafeMutableRawPointer(table)?.assumingMemoryBound(to: TableHandle.self).deallocate()
        return SQLITE_OK
    }

    private static let open:
        @convention(c) (
            UnsafeMutablePointer<sqlite3_vtab>?, UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?
        ) -> Int32 = { table, cursor in
            guard let table, let cursor else { return SQLITE_MISUSE }
            let made = UnsafeMutablePointer<CursorHandle>.allocate(capacity: 1)
            let box = UnsafeMutableRawPointer(table).assumingMemoryBound(to: TableHandle.self).pointee.box
            made.initialize(to: CursorHandle(base: sqlite3_vtab_cursor(pVtab: table), box: box))
            cursor.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
            return SQLITE_OK
        }

    private static let close: @convention(c) (UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 = { cursor in
        guard let cursor = CursorHandle.at(cursor) else { return SQLITE_MISUSE }
        cursor.deinitialize(count: 1)
        cursor.deallocate()
        return SQLITE_OK
    }

    private static let plan:
        @convention(c) (UnsafeMutablePointer<sqlite3_vtab>?, UnsafeMutablePointer<sqlite3_index_info>?) -> Int32 = {
            table, info in
            guard let table, let info else { return SQLITE_MISUSE }
            let box = UnsafeMutableRawPointer(table).assumingMemoryBound(to: TableHandle.self).pointee.box
                .takeUnretainedValue()
            var plan = TableBox.Plan(needed: info.pointee.colUsed)
            for index in 0..<Int(info.pointee.nConstraint) {
                let constraint = info.pointee.aConstraint[index]
                guard constraint.usable != 0, let comparison = comparison(constraint, info, index),
                    box.table.isOfUse(comparison)
                else { continue }
                // All values of an IN come at once, instead of a scan for each.
                let isList = sqlite3_vtab_in(info, Int32(index), 1) != 0
                plan.comparisons.append((comparison, isList))
                info.pointee.aConstraintUsage[index].argvIndex = Int32(plan.comparisons.count)
            }
            let order = (0..<Int(info.pointee.nOrderBy)).map { index in
                let term = info.pointee.aOrderBy[index]
                return TableOrder(column: Int(term.iColumn), isDescending: term.desc != 0)
            }
            if !order.isEmpty, box.table.isOrdered(by: order, needed: plan.needed) {
                plan.order = order
                info.pointee.orderByConsumed = 1
            }
            let visited = box.table.visited(plan.comparisons.map(\.comparison))
            info.pointee.estimatedCost = visited
            info.pointee.estimatedRows = Int64(visited)
            info.pointee.idxNum = Int32(box.plans.count)
            box.plans.append(plan)
            return SQLITE_OK
        }

    /// nil for what isn't a comparison of texts, byte by byte.
    private static func comparison(
        _ constraint: sqlite3_index_constraint, _ info: UnsafeMutablePointer<sqlite3_index_info>,
        _ index: Int
    ) -> TableCondition.Comparison? {
        guard let collation = sqlite3_vtab_collation(info, Int32(index)), String(cString: collation) == "BINARY" else {
            return nil
        }
        let sign: TableCondition.Operator
        switch Int32(constraint.op) {
        case SQLITE_INDEX_CONSTRAINT_EQ: sign = .equal
        case SQLITE_INDEX_CONSTRAINT_GE, SQLITE_INDEX_CONSTRAINT_GT: sign = .atLeast
        case SQLITE_INDEX_CONSTRAINT_LE, SQLITE_INDEX_CONSTRAINT_LT: sign = .atMost
        default: return nil
        }
        return TableCondition.Comparison(column: Int(constraint.iColumn), comparison: sign)
    }

    private static let filter:
        @convention(c) (
            UnsafeMutablePointer<sqlite3_vtab_cursor>?, Int32, UnsafePointer<CChar>?, Int32,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> Int32 = { cursor, number, _, _, values in
            guard let cursor = CursorHandle.at(cursor) else { return SQLITE_MISUSE }
            let box = cursor.pointee.box.takeUnretainedValue()
            let plan = box.plans[Int(number)]
            var conditions: [TableCondition] = []
            for (index, (comparison, isList)) in plan.comparisons.enumerated() {
                // A value that isn't text says nothing here: SQLite compares it with each row.
                guard let texts = texts(values?[index], isList) else { continue }
                conditions.append(TableCondition(comparison: comparison, texts: texts))
            }
            return cursor.attempt {
                cursor.pointee.rows = try box.table.rows(conditions, needed: plan.needed, order: plan.order)
                return try cursor.pointee.rows?.advance() ?? false
            }
        }

    private static let next: @convention(c) (UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 = { cursor in
        guard let cursor = CursorHandle.at(cursor) else { return SQLITE_MISUSE }
        return cursor.attempt {
            cursor.pointee.number += 1
            return try cursor.pointee.rows?.advance() ?? false
        }
    }

    /// nil if any of them isn't a text.
    private static func texts(_ value: OpaquePointer?, _ isList: Bool) -> [String]? {
        guard isList else { return text(value).map { [$0] } }
        var texts: [String] = []
        var element: OpaquePointer?
        var code = sqlite3_vtab_in_first(value, &element)
        while code == SQLITE_OK, element != nil {
            guard let text = text(element) else { return nil }
            texts.append(text)
            code = sqlite3_vtab_in_next(value, &element)
        }
        return code == SQLITE_DONE || code == SQLITE_OK ? texts : nil
    }

    private static func text(_ value: OpaquePointer?) -> String? {
        guard sqlite3_value_type(value) == SQLITE_TEXT, let text = sqlite3_value_text(value) else { return nil }
        return String(decoding: UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))), as: UTF8.self)
    }
}

extension CursorHandle {
    static func at(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> UnsafeMutablePointer<CursorHandle>? {
        UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: CursorHandle.self)
    }
}

extension UnsafeMutablePointer where Pointee == CursorHandle {
    /// Notes whether there is a row; an error becomes the statement's.
    fileprivate func attempt(_ body: () throws -> Bool) -> Int32 {
        do {
            pointee.isAtEnd = try !body()
            return SQLITE_OK
        } catch {
            pointee.isAtEnd = true
            let message = (error as? SQLiteError)?.message ?? "\(error)"
            pointee.base.pVtab.pointee.zErrMsg = message.withCString { healthbus_copy($0) }
            return (error as? SQLiteError)?.code ?? SQLITE_ERROR
        }
    }
}
