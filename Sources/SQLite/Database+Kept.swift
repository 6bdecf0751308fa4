extension Database {
    /// Opens the file of a stopped process, whose lock the caller has, to read it. A log that a killed process left is
    /// merged into the file if the disk has room for that.
    /// - Throws: `SQLiteError`.
    package static func kept(at path: String) throws -> Database {
        do { return try Database(path: path) } catch let error as SQLiteError where error.lacksRoom {
            return try Database(path: path, mode: .alone)
        }
    }

    /// Brings tables up to date, so that the file of an earlier release can be read. On a full disk the file stays as
    /// it is: one of this release can be read all the same.
    package func updateIfThereIsRoom(_ body: () throws -> Void) throws {
        guard !isReadOnly else { return }
        do { try transaction(body) } catch let error as SQLiteError where error.lacksRoom {}
    }
}
