import Configuration
import HealthViews

/// The other names that people see for figures: columns of the views and of CSV files, members of a day's `hours`, and
/// titles in the table of `days`. Pure.
package struct FigureNames {
    private let views: HealthViews

    /// - Parameter figures: those of the stack, in the order of columns.
    init(_ figures: [FigureDeclaration]) { views = HealthViews(figures: figures) }

    /// "heart_rate_average", "heart_rate", "heartRate", "HR avg": the column of `days` comes first.
    func others(of figure: FigureDeclaration) -> [String] {
        let day = views[.days]?.columns.first { $0.isCalled(figure.path.joined(separator: ".")) }?.name
        let hour = figure.hourly.flatMap { hourly in views[.hours]?.columns.first { $0.isCalled(hourly) }?.name }
        return [day, hour, figure.hourly, figure.column?.title].compactMap { $0 }
    }

    /// Whether `explain` or a tool understands one of these figures by that name, so that a person's own type can't have
    /// it.
    package static func isTaken(_ name: String, by figures: [FigureDeclaration]) -> Bool {
        let (word, names) = (name.lowercased(), FigureNames(figures))
        return figures.contains { figure in
            let own = [figure.path[0], figure.path.joined(separator: ".")] + (figure.explanation?.names ?? [])
            return (own + names.others(of: figure)).contains { $0.lowercased() == word }
        }
    }

    /// - Parameter word: in lower case.
    func isSeen(_ figure: FigureDeclaration, as word: String) -> Bool {
        others(of: figure).contains { $0.lowercased() == word }
    }
}
