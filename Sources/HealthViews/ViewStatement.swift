/// A view as a database makes it.
package struct ViewStatement: Sendable, Equatable {
    package let name: HealthView.Name
    /// `CREATE VIEW …`, without anything before it that would drop an older one. Another text is another definition.
    package let text: String
    /// For databases that keep comments: what the view holds, and what each column does.
    package let comments: [String]
}
