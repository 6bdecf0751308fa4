import HealthModel
import HealthStore
import Protocol
import SQLite
import StageKit

/// Which sources a person has left out. Nothing is removed from the store: their samples aren't in slices, so no figure
/// has them, and whoever reads changes sees deleted samples. Whenever the rules change, everybody looks at the samples
/// concerned again.
package enum LeftOutTable {
    package static let table = ValueTable("left_out", key: "rule", value: "entry")

    package struct Entry: Codable, Sendable, Equatable {
        package var rule: LeftOutSource
        /// All names of the source, as far as they are known.
        package var names: Set<String>

        package init(_ rule: LeftOutSource, names: Set<String>) { (self.rule, self.names) = (rule, names) }

        package var key: String { "\(rule.user) \(rule.type ?? "") \(rule.source)" }
    }

    package static func entries(in database: Database) throws -> [Entry] {
        // A store from an earlier release has no such table until this release's observer has opened it.
        guard try database.hasTable("left_out") else { return [] }
        var entries: [Entry] = []
        try table.forEach(in: database) { if let entry = $1.read(Entry.self) { entries.append(entry) } }
        return entries
    }
}

/// The rules that apply, as pages are filtered by them.
struct LeftOutRules {
    private var byUser: [String: [LeftOutTable.Entry]]

    init(_ entries: [LeftOutTable.Entry] = []) {
        byUser = Dictionary(grouping: entries, by: \.rule.user)
    }

    /// A slice without what is left out.
    func filter(_ page: SamplePage, of user: String) -> SamplePage {
        guard let entries = byUser[user], let origins = Self.origins(of: page, in: entries) else { return page }
        return page.keeping(
            page.ids.indices.filter { !Self.takesOut(entries, page, $0, origins) { _ in true } })
    }

    /// Changes, of which what is left out altogether shows as deleted.
    func mark(_ page: SamplesPage) -> SamplesPage {
        guard !byUser.isEmpty else { return page }
        var page = page
        for (index, user) in page.users.enumerated() {
            guard let entries = byUser[user], let origins = Self.origins(of: page.samples, in: entries) else {
                continue
            }
            for row in page.samples.ids.indices
            where Int(page.user[row]) == index
                && Self.takesOut(entries, page.samples, row, origins, { $0.figuresOnly != true })
            {
                page.samples.flags[row].insert(.deleted)
            }
        }
        return page
    }

    /// For each origin of the page, the rules that name its source; nil if there are none.
    private static func origins(of page: SamplePage, in entries: [LeftOutTable.Entry]) -> [[Int]]? {
        let found = page.origins.map { origin in
            entries.indices.filter { entries[$0].names.contains(origin.sourceName) }
        }
        return found.contains { !$0.isEmpty } ? found : nil
    }

    private static func takesOut(
        _ entries: [LeftOutTable.Entry], _ page: SamplePage, _ row: Int, _ origins: [[Int]],
        _ concerns: (LeftOutSource) -> Bool
    ) -> Bool {
        origins[Int(page.origin[row])].contains { index in
            let rule = entries[index].rule
            guard concerns(rule), rule.from.map({ page.startOf(row) >= $0 }) ?? true else { return false }
            guard let type = rule.type else { return true }
            let name = page.typeName(row)
            return name == type || HealthType.base(ofStatistics: name) == type
        }
    }
}
