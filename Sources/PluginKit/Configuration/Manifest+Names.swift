import Foundation
import HealthModel

extension Manifest {
    /// A list of names that the manifest's file gives beside its own members: `triggers`, `permittedTasks`, `backgroundModes`.
    public func names(_ key: String) throws -> Set<String> {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw ConfigurationError(file: file, key: "", reason: "can't be read")
        }
        return Set((try Value(json: data, comments: true)[key].array ?? []).compactMap(\.string))
    }
}
