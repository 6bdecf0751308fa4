import HealthModel

/// The samples that a query is about.
package struct TypeFilter: Sendable, Equatable {
    package enum Types: Sendable, Equatable {
        case only(Set<String>)
        case allExcept(Set<String>)
    }

    /// Nil for every user.
    package var users: Set<String>?
    package var types: Types

    package init(users: Set<String>? = nil, types: Types) { (self.users, self.types) = (users, types) }

    /// Every type except workouts, which are delivered as events only.
    package static let samples = TypeFilter(types: .allExcept(["HKWorkoutTypeIdentifier"]))

    func includes(type: String) -> Bool {
        switch types {
        case .only(let names): names.contains(type)
        case .allExcept(let names): !names.contains(type)
        }
    }

    func includes(user: String) -> Bool { users?.contains(user) ?? true }
}

/// Sequences after `after`, up to and including `through`.
package struct SequenceWindow: Sendable, Hashable {
    package var after: SequenceNumber
    package var through: SequenceNumber

    package init(after: SequenceNumber, through: SequenceNumber = .end) {
        (self.after, self.through) = (after, through)
    }

    /// - Parameter sequence: the number as stored in a row.
    func contains(_ sequence: Int64) -> Bool { sequence > after.value && sequence <= through.value }
}

/// What a pull asks for: one window, and separate windows for types that lag behind it or are held back.
package struct PullWindow: Sendable, Equatable {
    package var base: SequenceWindow
    package var exceptions: [String: SequenceWindow]

    package init(_ base: SequenceWindow, exceptions: [String: SequenceWindow] = [:]) {
        (self.base, self.exceptions) = (base, exceptions)
    }

    /// The sequences to walk for types included in the filter.
    func span(_ filter: TypeFilter) -> SequenceWindow {
        exceptions.filter { filter.includes(type: $0.key) }.values.reduce(into: base) { span, window in
            guard window.after < window.through else { return }
            span.after = min(span.after, window.after)
            span.through = max(span.through, window.through)
        }
    }
}

/// How much one call may read and return.
package struct PullLimits: Sendable {
    /// Rows of output.
    package var rows: Int
    /// The number of bytes of output, estimated generously; at least one row is returned, however large.
    package var bytes: Int
    /// The number of rows to walk over, whether or not they match.
    package var scanned: Int

    package init(rows: Int = 4096, bytes: Int = 60_000, scanned: Int = 100_000) {
        (self.rows, self.bytes, self.scanned) = (rows, bytes, scanned)
    }
}
