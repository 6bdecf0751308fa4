import HealthModel

extension Manifest {
    /// Its types, and their statistics: whoever takes a type's samples takes what apps have added up of them too.
    package var typesWithStatistics: [String] { Self.withStatistics(types) }

    /// All whose samples it gets.
    package var sampleTypes: [String] { Self.withStatistics(types + reads) }

    private static func withStatistics(_ types: [String]) -> [String] {
        types.flatMap {
            HealthType.countsStatistics($0) ? [$0, HealthType.statistics(of: $0)] : [$0]
        }
    }
}
