import HealthModel

/// A figure that a handler gives for a day, as its manifest says it: tables, summaries and `explain` go by it.
package struct FigureDeclaration: Sendable, Equatable {
    /// What it is; a day without it has null, an empty list or an empty object.
    package enum Form: String, Sendable { case number, list, object }

    /// By which rule it follows from the samples of a type.
    package enum Rule: String, Sendable {
        /// Overlapping sources merged and added up.
        case total
        case average
        /// The day's last sample.
        case latest
        case sleep
        case standHours = "stand-hours"
        /// A category's samples, counted.
        case count
        /// The day's list of workouts.
        case workouts
    }

    package struct Explanation: Sendable, Equatable {
        /// How people name it; other names after the first.
        package var names: [String]
        /// HealthKit's identifier.
        package var type: String
        package var rule: Rule
    }

    /// A column of `healthbus days`.
    package struct Column: Sendable, Equatable {
        package enum Form: String, Sendable {
            case number
            /// Minutes as hours and minutes: 7:05.
            case clock
            /// A list's activities, with their minutes.
            case activities
        }

        package var title: String
        package var form: Form
        package var digits: Int
        /// What a number is divided by: 1000 shows metres as kilometres.
        package var dividedBy: Double
        /// What stands after each number.
        package var suffix: String
        /// When it is left out on a narrow screen: 1 goes first, nil never does.
        package var givesWay: Int?
    }

    /// Where a day's summary has it: a member, or a member of one.
    package var path: [String]
    package var form: Form
    /// As people are told it; empty where there is none.
    package var unit: String
    /// Which of the handler's hourly figures it is by hour; nil: it is none.
    package var hourly: String?
    /// nil: it can't be explained.
    package var explanation: Explanation?
    /// nil: it is in no table.
    package var column: Column?

    /// - Parameter value: as the manifest's schema allows it.
    init?(_ value: Value) {
        path = (value["name"].string ?? "").split(separator: ".").map(String.init)
        guard !path.isEmpty else { return nil }
        form = value["form"].string.flatMap(Form.init) ?? .number
        unit = value["unit"].string ?? ""
        hourly = value["hourly"].string
        explanation = Explanation(value["explain"])
        column = Column(value["column"])
    }

    /// Its member and unit.
    package var title: String { path.joined(separator: ".") + (unit.isEmpty ? "" : ", " + unit) }

    /// What stands in a summary that doesn't have it.
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
        self.type = type
        self.rule = rule
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
    /// The figures of these handlers, in the order in which tables have them. Where two declare one, the first one's counts.
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
