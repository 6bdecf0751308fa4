import SQLite
import StageKit

/// The device and the registrations, on file, and the few facts that each read needs (`ReadAccess`); each under its
/// key.
package enum DeliveryTable {
    package static let table = ValueTable("delivery")

    static func createTables(in database: Database) throws { try table.create(in: database) }
}
