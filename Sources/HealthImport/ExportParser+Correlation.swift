import CXMLStream
import HealthModel

extension ExportParser {
    private static let partLimit = 4096

    /// Begins the row of a correlation, a workout or any other element except a record.
    mutating func startOuter(_ element: UnsafePointer<healthbus_xml_element>) {
        outerMetadata.removeAll()
        outerRaw = raw(element)
        outerProblem = element.problem
        outer = StagedRow()
        outer.line = element.pointee.line
    }

    mutating func startCorrelation(_ element: UnsafePointer<healthbus_xml_element>) {
        startOuter(element)
        parts.removeAll(keepingCapacity: true)
        context = .correlation
        if outerProblem != nil { return }
        guard let type = element.attribute(.type), !type.isEmpty else {
            outerProblem = "there is no type"
            return
        }
        var staged = outer
        outerProblem = stage(element, type: type, into: &staged)
        outer = staged
    }

    /// A correlation has no number; its payload names its parts, which have rows of their own.
    mutating func endCorrelation() {
        context = .document
        if let outerProblem { return quarantine(line: outer.line, outerProblem, raw: outerRaw) }
        summary.correlations += 1
        deliverOuter(["parts": .array(parts)])
    }

    mutating func notePart() {
        guard parts.count < Self.partLimit else {
            outerProblem = outerProblem ?? "the correlation has more than 4,096 parts"
            return
        }
        parts.append([
            "type": .string(names.type(row)), "unit": .string(names.unit(row)),
            "value": Value(row.value.isNaN ? nil : row.value),
            "start": .string(InstantText.iso8601(row.start)), "end": .string(InstantText.iso8601(row.end)),
        ])
    }
}
