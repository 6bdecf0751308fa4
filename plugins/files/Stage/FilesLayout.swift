import HealthModel
import HealthResources
import Protocol

/// Which files exist, according to the instance's options.
package struct FilesLayout: Equatable, Sendable {
    package var format: FileFormat = .csv
    /// How much time a file of samples covers.
    package var period: FilePeriod.Unit = .month
    /// Which samples are kept. Workouts are kept as documents, so their samples aren't kept, as with every destination.
    package var types = TypeChoice.allExcept([HealthType.workoutIdentifier])
    /// How people are identified in FHIR resources.
    package var patients = PatientNames(.null)
    /// Whether FHIR resources name their sources.
    package var namesSources = false

    /// A user's resources.
    func resources(of user: String, figures: [ResourceFigure] = []) -> Observations {
        Observations(of: patients.identifier(of: user), figures: figures, namesSources: namesSources)
    }

    package func samples(_ type: String, of user: String, at time: Instant) -> FileSpan {
        FileSpan(user: user, content: .samples(type: type), period: FilePeriod(period, at: time), format: format)
    }

    package func documents(_ content: FileSpan.Content, of user: String, in year: FilePeriod) -> FileSpan {
        FileSpan(user: user, content: content, period: year, format: format)
    }

    /// Whether this layout has such a file; one from an earlier layout is removed.
    package func has(_ span: FileSpan) -> Bool {
        guard span.format == format else { return false }
        return switch span.content {
        case .samples(let type): span.period.unit == period && types.takes(type)
        case .days, .nights, .workouts: span.period.unit == .year
        }
    }

    /// The layout in the form that is stored, to detect whether it has changed.
    package var kept: Value {
        var members: [String: Value] = ["format": .string(format.rawValue), "by": .string(period.rawValue)]
        if case .only(let types) = types { members["types"] = .array(types.map { .string($0) }) }
        if format == .fhir, !patients.isEmpty { members["patients"] = patients.kept }
        if format == .fhir, namesSources { members["sources"] = true }
        // Files in an earlier form are written again.
        if format == .fhir { members["resources"] = .integer(Observations.revision) }
        if format == .openMHealth { members["points"] = .integer(OpenMHealth.revision) }
        return .object(members)
    }
}

extension FilesLayout {
    /// - Parameter options: the options, accepted by the manifest's schema.
    package init(_ options: Value) {
        format = options["format"].string.flatMap { FileFormat(rawValue: $0) } ?? .csv
        period = options["by"].string.flatMap { FilePeriod.Unit(rawValue: $0) } ?? .month
        let names = (options["types"].array ?? []).compactMap(\.string)
        patients = PatientNames(options["patients"])
        namesSources = options["sources"].bool ?? false
        if !names.isEmpty { types = .only(Set(names).subtracting([HealthType.workoutIdentifier]).sorted()) }
    }
}
