import HealthModel

/// A column of a view.
package struct ViewColumn: Sendable, Equatable {
    /// The type of its values, which is the same in both databases.
    package enum Kind: String, Sendable {
        case text
        case integer
        /// In SQLite, an integer if the number is whole.
        case real
        /// In SQLite, 0 or 1.
        case boolean
        /// A local date. SQLite: text, `2025-03-30`.
        case date
        /// A moment. In SQLite, ISO 8601 text in UTC, such as `2025-03-30T06:15:00Z`, with only as many digits of the
        /// fraction as needed.
        case moment
        /// SQLite: JSON text. PostgreSQL: `jsonb`.
        case json
        /// In SQLite, text in lower case.
        case uuid
    }

    /// Where a view takes its values from.
    enum Content: Sendable, Equatable {
        /// The view's rows have the value under the column's own name.
        case own
        /// A member of a document's body.
        case member([String])
        /// The hour's entry in one of the lists in the body's `hours`.
        case hour(String)
    }

    package let name: String
    package let kind: Kind
    /// One sentence, as in the documentation.
    package let meaning: String
    /// Such as "min"; nil if there is none, or if another column holds it.
    package let unit: String?
    let content: Content
    /// What databases show for a value that is missing or isn't of the type that the column promises: an empty list or
    /// object; nil for NULL.
    let absent: Value?

    init(
        _ name: String, _ kind: Kind, _ meaning: String, _ content: Content = .own, unit: String? = nil,
        absent: Value? = nil
    ) {
        (self.name, self.kind, self.meaning, self.content, self.unit) = (name, kind, meaning, content, unit)
        self.absent = absent
    }
}

/// A view for queries: its name, its contents, and its columns.
package struct HealthView: Sendable, Equatable {
    package enum Name: String, Sendable, CaseIterable, CustomStringConvertible {
        case samples, days, hours, nights, workouts
        case workoutParts = "workout_parts"
        case bloodPressures = "blood_pressures"
        case sources

        package var description: String { rawValue }
    }

    package let name: Name
    /// One sentence.
    package let summary: String
    package let columns: [ViewColumn]
}
