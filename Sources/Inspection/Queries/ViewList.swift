import Configuration
import HealthViews

/// `healthbus query --tables`: a row per column of each view.
package enum ViewList {
    package static let columns = ["table", "column", "kind", "unit", "meaning"]

    /// - Parameter figures: from `StackConfiguration.figures`.
    package static func write(figures: [FigureDeclaration], to output: RowOutput) throws {
        for view in HealthViews(figures: figures).all {
            for column in view.columns {
                for text in [view.name.rawValue, column.name, column.kind.rawValue] { output.text(text) }
                if let unit = column.unit { output.text(unit) } else { output.null() }
                output.text(column.meaning)
                try output.endRow()
            }
        }
        try output.finish()
    }
}
