/// A view as a database creates it.
package struct ViewStatement: Sendable, Equatable {
    package let name: HealthView.Name
    /// The view's name in the statement that creates it, with its schema if it has one.
    package let place: String
    /// `SELECT …`. If this string changes, so has the view's definition.
    package let query: String
    /// Names of the query's columns, in order.
    package let columns: [String]
    /// The statements that describe the view and each of its columns, for databases that store comments.
    package let comments: [String]

    /// The statement alone, without a preceding one that drops an older view.
    package var text: String { "CREATE VIEW \(place) AS\n\(query)" }
}
