import HealthModel

/// A figure that a handler computes for a day, as declared in its manifest. It is used by tables, summaries and
/// `explain`.
package struct FigureDeclaration: Sendable, Equatable {
    /// Its form; a day without the figure has null, an empty list or an empty object instead.
    package enum Form: String, Sendable { case number, list, object }

    /// The rule by which the figure is computed from the samples of a type.
    package enum Rule: String, Sendable {
        /// Overlapping sources are merged and added up.
        case total
        case average
        /// The day's last sample.
        case latest
        case sleep
        case standHours = "stand-hours"
        /// The number of samples of a category.
        case count
        /// The day's list of workouts.
        case workouts
        /// The day's list of visits to places.
        case visits
    }

    package struct Explanation: Sendable, Equatable {
        /// The figure's names for people: the main one first, then others.
        package var names: [String]
        /// HealthKit's identifier.
        package var type: String
        package var rule: Rule
    }

    /// A column of `healthbus days`.
    package struct Column: Sendable, Equatable {
        package enum Form: String, Sendable {
            case number
            /// Shows minutes as hours and minutes: 7:05.
            case clock
            /// Shows a list's activities with their minutes.
            case activities
            /// Shows a list's places with their minutes, as hours and minutes.
            case places
        }

        package var title: String
        package var form: Form
        package var digits: Int
        /// The divisor for a number: 1000 shows metres as kilometres.
        package var dividedBy: Double
        /// The string after each number.
        package var suffix: String
        /// The order in which columns are left out on a narrow screen: 1 is the first to go; those with nil stay.
        package var givesWay: Int?
    }

    /// A summary's own members, whose names no figure may have.
    package static let reserved: Set<String> = ["user", "date", "zone", "final", "revision", "missing", "hours"]

    /// The figure's place in a day's summary: a member, or a member of a member.
    package var path: [String]
    package var form: Form
    /// The unit shown to people; empty if there is none.
    package var unit: String
    /// The name of the corresponding hourly figure; nil if there is none.
    package var hourly: String?
    /// nil if only its handler knows how it follows from samples; `explain` then shows what the handler got.
    package var explanation: Explanation?
    /// nil if the figure isn't in any table.
    package var column: Column?

    /// - Parameter value: the declaration, already accepted by the manifest's schema.
    init?(_ value: Value) {
        path = (value["name"].string ?? "").split(separator: ".").map(String.init)
        guard !path.isEmpty else { return nil }
        form = value["form"].string.flatMap(Form.init) ?? .number
        unit = value["unit"].string ?? ""
        hourly = value["hourly"].string
        explanation = Explanation(value["explain"])
        column = Column(value["column"])
    }

    /// The figure's member and unit.
    package var title: String { path.joined(separator: ".") + (unit.isEmpty ? "" : ", " + unit) }

    /// Whether the figure is a number from 0 to 1 that people see as a percentage, judging by its name: the unit is
    /// part of every figure's name.
    package var isFraction: Bool { unit == "%" && path.last?.hasSuffix("Fraction") == true }

    /// The figure's value for a summary that doesn't have it.
    package var absent: Value {
        switch form {
        case .number: .null
        case .list: []
        case .object: [:]
        }
    }
}

extension FigureDeclaration.Explanation {
    fileprivate init?(_ value: Value) {
        guard let type = value["type"].string, let rule = value["rule"].string.flatMap(FigureDeclaration.Rule.init)
        else { return nil }
        names = (value["names"].array ?? []).compactMap(\.string)
        (self.type, self.rule) = (type, rule)
    }
}

extension FigureDeclaration.Column {
    fileprivate init?(_ value: Value) {
        guard let title = value["title"].string else { return nil }
        self.title = title
        form = value["form"].string.flatMap(Form.init) ?? .number
        digits = Int(value["digits"].int ?? 0)
        dividedBy = value["dividedBy"].double ?? 1
        suffix = value["suffix"].string ?? ""
        givesWay = value["givesWay"].int.map { Int($0) }
    }
}

extension [Manifest] {
    /// The figures of these handlers, in the order of table columns. If two declare the same figure, the first one
    /// counts.
    package var figures: [FigureDeclaration] {
        var known: Set<[String]> = []
        var found: [(place: (Int, String, Int), figure: FigureDeclaration)] = []
        for manifest in self {
            for (index, figure) in manifest.figures.enumerated() where known.insert(figure.path).inserted {
                found.append(((manifest.place, manifest.name, index), figure))
            }
        }
        return found.sorted { $0.place < $1.place }.map(\.figure)
    }
}
