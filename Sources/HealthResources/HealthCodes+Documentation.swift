import HealthModel

extension HealthCodes {
    /// The table in `docs/fhir.md`, which lists each code with its source.
    package static var documentation: String {
        let ofTypes = types.sorted { $0.key < $1.key }.map { name, coding in
            row(name, coding, unit: ResourceUnit(coding, of: HealthType.named(name).unit, isFraction: true).code)
        }
        let ofFigures = figures.sorted { $0.key < $1.key }.map { name, coding in
            row(name, coding, unit: coding.unit)
        }
        let head = ["| type or figure | LOINC | SNOMED CT | UCUM |", "| --- | --- | --- | --- |"]
        return (head + ofTypes + ofFigures).map { $0 + "\n" }.joined()
    }

    private static func row(_ name: String, _ coding: HealthCoding, unit: String?) -> String {
        func codes(_ system: HealthCode.System) -> String {
            coding.codes.filter { $0.system == system }.map {
                "\($0.code) \($0.display) ([\($0.source.title)](\($0.source.rawValue)))"
            }.joined(separator: "; ")
        }
        let unit = unit.map { "`\($0)`" } ?? ""
        return "| `\(name)` | \(codes(.loinc)) | \(codes(.snomed)) | \(unit) |"
    }
}
