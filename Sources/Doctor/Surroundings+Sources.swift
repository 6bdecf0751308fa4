import Configuration
import Foundation
import HealthModel
import HealthStore
import Logging
import SQLite

/// Sources that a configuration puts first but that have no samples: perhaps they have none yet, or their names are
/// misspelled.
extension Surroundings {
    /// The maximum number of names compared for similarity.
    private static let nameLimit = 2000

    var sources: [Finding] {
        let named = stack.instances.flatMap { instance in
            (instance.configuration["sourceOrder"].object ?? [:]).sorted { $0.key < $1.key }.flatMap { type, names in
                (names.array ?? []).compactMap(\.string).map { (instance: instance.name, type: type, name: $0) }
            }
        }
        guard !named.isEmpty, let observer = stack.only(.observer)?.name,
            FileManager.default.fileExists(atPath: state.database(observer))
        else { return [] }
        do {
            let store = try HealthStoreReader(database: Database(path: state.database(observer), mode: .readOnly))
            let known = try store.sourceNames(limit: Self.nameLimit)
            // A store without samples has no sources, so it can't show that a name is wrong.
            guard !known.isEmpty else { return [] }
            return try named.compactMap { instance, type, name in
                guard try !store.hasSource(named: name) else { return nil }
                let nearest = Nearest.to(name, among: known)
                return Finding(
                    .warning, stack.file, key: "instances.\(instance).configuration.sourceOrder.\(type)",
                    "no sample has a source named '\(name)'",
                    remedy: (nearest.map { "did you mean '\($0)'? If not, write" } ?? "write")
                        + " it exactly as the Health app shows it; if it has no samples yet, leave it")
            }
        } catch {
            // The store is from an earlier release, or is only just being created; damage is reported by `stores`.
            return [
                Finding(
                    .note, observer, "its sources can't be read, so those of 'sourceOrder' weren't looked up: \(error)",
                    remedy: "nothing, unless something above names it; start the stack, then check again")
            ]
        }
    }
}
