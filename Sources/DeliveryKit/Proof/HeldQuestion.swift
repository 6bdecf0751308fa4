import HealthModel

/// The lists in which a destination keeps one user's elements.
package enum HeldList: String, Sendable, CaseIterable { case samples, workouts, nights, days }

/// Asks the destination for a page of what it keeps of one list of a user.
package struct HeldQuestion: Sendable, Equatable {
    package var list: HeldList
    package var user: String
    /// Only elements whose ids come after this one; a destination that can't search by id may ignore it.
    package var after: SampleID?
    /// From the page before; nil for the first page.
    package var cursor: String?
    /// The maximum number of rows.
    package var limit: Int
    /// Whether our credentials must first be read from their source again, since the destination refused the last ones.
    package var refreshToken: Bool

    package init(
        list: HeldList, user: String, after: SampleID? = nil, cursor: String? = nil, limit: Int = Self.usualLimit,
        refreshToken: Bool = false
    ) {
        (self.list, self.user, self.after, self.cursor, self.limit) = (list, user, after, cursor, limit)
        self.refreshToken = refreshToken
    }

    /// A destination takes well under a second for this many.
    package static let usualLimit = 20_000
}

/// A page of what a destination keeps, deleted elements included if it keeps them.
package struct HeldPage: Sendable, Equatable {
    package struct Row: Sendable, Equatable {
        /// nil if the id isn't a UUID, in which case it is in `text`.
        package var id: SampleID?
        package var text: String
        package var held: HeldVersion

        package init(id: SampleID?, text: String = "", held: HeldVersion) {
            (self.id, self.text, self.held) = (id, text, held)
        }

        /// - Parameter name: an id as text.
        package init(named name: String, held: HeldVersion) {
            let id = SampleID(name)
            self.init(id: id, text: id == nil ? name : "", held: held)
        }

        package var name: String { id?.description ?? text }
    }

    package var rows: [Row]
    /// Where the next page begins, in the destination's own terms; nil after the last page.
    package var next: String?
    /// The destination's generation, if it has one: pages of two generations don't belong together.
    package var generation: String?
    /// Whether rows come in the order of their ids, those that aren't UUIDs first.
    package var isOrdered: Bool
    /// Whether every row that isn't deleted has its content.
    package var reportsContents: Bool

    package init(
        rows: [Row], next: String? = nil, generation: String? = nil, isOrdered: Bool = true,
        reportsContents: Bool = true
    ) {
        (self.rows, self.next, self.generation, self.isOrdered) = (rows, next, generation, isOrdered)
        self.reportsContents = reportsContents
    }
}

/// A destination's answer to a `HeldQuestion`.
package enum HeldReply: Sendable {
    case page(HeldPage)
    /// There is no answer at present; the text gives the reason.
    case later(String, AskedWait? = nil)
    /// Our credentials were refused; the text says what happened.
    case refusesToken(String)
    /// It can't say what it keeps of this list; the text says why.
    case unable(String)
}

/// Computes a number for the content of each of a group's elements, the same for what is to be delivered and for what
/// the destination keeps; nil for a deletion, and for an element that isn't delivered at all.
package typealias ContentOf = @Sendable (DeliveryGroup) throws -> [Int64?]
