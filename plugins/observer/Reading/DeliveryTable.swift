import SQLite
import StageKit

/// The device and who is registered, on file, and the little that each read has to know (`ReadAccess`); each by its key.
package enum DeliveryTable {
    package static let table = ValueTable("delivery")

    static func createTables(in database: Database) throws { try table.create(in: database) }
}
