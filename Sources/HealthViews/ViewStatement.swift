/// A view as a database creates it.
package struct ViewStatement: Sendable, Equatable {
    package let name: HealthView.Name
    /// `CREATE VIEW …`, without a statement before it that would drop an older one. Different text means a different
    /// definition.
    package let text: String
    /// For databases that store comments: the contents of the view, and the meaning of each column.
    package let comments: [String]
}
