import Changelog
import HealthModel
import HealthStore
import Protocol

extension ObserverSource {
    /// How many rows one answer examines.
    private static let examined = 200_000

    func sources(_ query: SourcesQuery, _ asking: Asking, _ page: (SourcesPage, Bool) -> Void) throws {
        try access.refuse(asking.consumer, what: "the list of sources")
        let user = query.user
        let rules = try LeftOutTable.entries(in: database).filter { user == nil || user == $0.rule.user }
        let (counts, through) = try store.sources(user: user, after: query.continue ?? .beginning, limit: Self.examined)
        var names: [String: [[String]]] = [:]
        for user in Set(counts.map(\.user) + rules.map(\.rule.user)) { names[user] = try store.sourceNames(of: user) }
        page(
            SourcesPage(
                sources: counts.map {
                    SourcesPage.Row(
                        user: $0.user, type: $0.type, source: $0.source, product: $0.product, samples: $0.samples,
                        firstStart: $0.firstStart, lastStart: $0.lastStart)
                },
                leftOut: rules.map(\.rule), names: names.filter { !$0.value.isEmpty }, continue: through), true)
    }
}
