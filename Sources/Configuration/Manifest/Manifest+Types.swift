import HealthModel

extension Manifest {
    /// The plugin's types, and their statistics: a handler of a type's samples also gets the statistics that apps have
    /// computed from them.
    package var typesWithStatistics: [String] { Self.withStatistics(types) }

    /// All types whose samples the plugin gets.
    package var sampleTypes: [String] { Self.withStatistics(types + reads) }

    private static func withStatistics(_ types: [String]) -> [String] {
        types.flatMap {
            HealthType.countsStatistics($0) ? [$0, HealthType.statistics(of: $0)] : [$0]
        }
    }
}
