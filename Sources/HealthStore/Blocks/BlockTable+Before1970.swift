import HealthModel
import SQLite

extension BlockTable {
    /// The row with an id, in a block or not, if its sample starts before 1970. Such ids begin with 0 instead of a time,
    /// so all of these rows are searched.
    func row(before1970 id: SampleID, user: Int, type: Int, in database: Database) throws -> StoredRow? {
        let query = try database.prepare(
            "SELECT \(StoredRow.columns) FROM samples WHERE user = ? AND type = ? AND second < 0 AND id = ?")
        query.bind(1, user)
        query.bind(2, type)
        query.bind(3, id)
        if let row = try query.firstRow({ StoredRow($0) }) { return row }
        for view in try views(user: user, type: type, seconds: Int64.min...(-1)) {
            for index in view.block.id.indices where view.block.id[index] == id && view.isHere(index) {
                return view.block.row(index)
            }
        }
        return nil
    }
}
