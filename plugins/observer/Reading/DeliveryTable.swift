import SQLite
import StageKit

/// The stored device and registrations, and the few facts that each read needs (`ReadAccess`), each under its own key.
package enum DeliveryTable {
    package static let table = ValueTable("delivery")

    static func createTables(in database: Database) throws { try table.create(in: database) }
}
