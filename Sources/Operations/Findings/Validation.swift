import Foundation
import PluginKit

/// `healthbus validate`: all that can be told of a stack before it starts.
public struct Validation {
    public let findings: Findings
    /// Whether it is the configuration that is refused, and not only what is around it.
    public let isConfigurationRefused: Bool

    /// - Throws: `StateFolderError` and the like never: what can't be read is a finding.
    public init(
        state: String?, configurationFile: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        let state = state.map { StateFolder(path: $0) } ?? .standard(environment: environment)
        do {
            let catalog = try PluginCatalog.standard(environment: environment)
            let reader = try StackConfigurationReader(path: configurationFile, state: state, catalog: catalog)
            let places = try JSONPlaces.of(configurationFile)
            let structure = StackStructure(stack: reader.stack).findings.map {
                $0.placed(places, in: reader.stack.file)
            }
            let around = Surroundings(
                state: state, stack: reader.stack, catalog: catalog, environment: environment
            ).findings.map { $0.placed(places, in: reader.stack.file) }
            findings = Findings(reader.problems.map { Finding($0) } + structure + around)
            isConfigurationRefused = !reader.problems.isEmpty || structure.contains { $0.severity == .error }
        } catch {
            let error =
                error as? ConfigurationError ?? ConfigurationError(file: state.path, key: "", reason: "\(error)")
            findings = Findings([Finding(error)])
            isConfigurationRefused = true
        }
    }
}

extension JSONPlaces {
    /// Of a file; nothing of none.
    static func of(_ file: String?) throws -> JSONPlaces {
        guard let file, let data = FileManager.default.contents(atPath: file) else { return JSONPlaces() }
        return JSONPlaces(data)
    }
}

extension Finding {
    /// The same with the line of its key, when it is about that file.
    func placed(_ places: JSONPlaces, in file: String) -> Finding {
        guard line == nil, subject == file, let key else { return self }
        var placed = self
        placed.line = places.line(of: key)
        return placed
    }
}
