import Configuration
import HealthResources

extension [FigureDeclaration] {
    /// The figures that are numbers, as they appear in FHIR resources for days.
    var resources: [ResourceFigure] {
        filter { $0.form == .number }.map {
            ResourceFigure(path: $0.path, unit: $0.unit, isFraction: $0.isFraction)
        }
    }
}
