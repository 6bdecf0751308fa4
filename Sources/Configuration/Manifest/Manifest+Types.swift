import HealthModel

extension Manifest {
    /// Its types, and their statistics: a handler of a type's samples also gets what apps have aggregated from them.
    package var typesWithStatistics: [String] { Self.withStatistics(types) }

    /// All types whose samples it gets.
    package var sampleTypes: [String] { Self.withStatistics(types + reads) }

    private static func withStatistics(_ types: [String]) -> [String] {
        types.flatMap {
            HealthType.countsStatistics($0) ? [$0, HealthType.statistics(of: $0)] : [$0]
        }
    }
}
