import Configuration
import HealthResources

extension [FigureDeclaration] {
    /// The numbers among them, as FHIR's resources of days have them.
    var resources: [ResourceFigure] {
        filter { $0.form == .number }.map { ResourceFigure(path: $0.path, unit: $0.unit) }
    }
}
