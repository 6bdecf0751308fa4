import SQLite

/// Samples by what `kinds` says of them, for GROUP BY and DISTINCT: sorting ten years of rows would take longer than
/// reading them.
///
/// It holds eight bytes for each value of each row, so it isn't for columns of other sizes.
final class SampleGroups: VirtualRows {
    /// What rows can be grouped by.
    static let keys: Set<SampleRows.Column> = [.user, .type, .unit, .source, .sourceType]

    private struct Group {
        let user: Int
        let names: SampleRows.Kind
        var count = 0
        /// One for each of `columns`.
        var words: [[Int64]]
    }

    private struct Key: Hashable {
        let user: Int
        let kind: Int64
    }

    private let table: SampleRows
    private let columns: [SampleRows.Column]
    /// The place of each column of the table in `columns`; -1 for a key.
    private let places: [Int]
    private var groups: [Group] = []
    private var place = (group: 0, row: -1)
    private var moments = MomentText()

    init(_ walk: SampleWalk, _ table: SampleRows, needed: Set<SampleRows.Column>, order: [TableOrder]) throws {
        self.table = table
        columns = needed.subtracting(Self.keys).sorted { $0.rawValue < $1.rawValue }
        places = SampleRows.Column.allCases.map { [columns] in columns.firstIndex(of: $0) ?? -1 }
        var found: [Key: Int] = [:]
        var last: (key: Key, place: Int)?
        while try walk.advance() {
            guard let kind = walk.kind else { continue }
            let key = Key(user: walk.user, kind: kind.number)
            if last?.key != key {
                let place = found[key] ?? groups.count
                if place == groups.count {
                    groups.append(Group(user: key.user, names: kind.names, words: columns.map { _ in [] }))
                    found[key] = place
                }
                last = (key, place)
            }
            guard let place = last?.place else { continue }
            groups[place].count += 1
            for (index, column) in columns.enumerated() { groups[place].words[index].append(walk.word(column)) }
        }
        groups.sort { a, b in
            for term in order {
                guard let column = SampleRows.Column(rawValue: term.column) else { continue }
                let (one, other) = (table.text(column, a.user, a.names), table.text(column, b.user, b.names))
                if one == other { continue }
                // As in SQLite, NULL comes before any text, and texts are compared byte by byte.
                let isBefore = other.map { other in one.map { $0.lexicographicallyPrecedes(other) } ?? true } ?? false
                return isBefore != term.isDescending
            }
            return false
        }
    }

    func advance() throws -> Bool {
        place.row += 1
        while place.group < groups.count, place.row == groups[place.group].count { place = (place.group + 1, 0) }
        return place.group < groups.count
    }

    func write(_ column: Int, to result: ColumnResult) {
        guard let column = SampleRows.Column(rawValue: column) else { return }
        let index = places[column.rawValue]
        guard index >= 0 else {
            let (user, names) = (groups[place.group].user, groups[place.group].names)
            return table.text(column, user, names).map(result.text) ?? ()
        }
        let word = groups[place.group].words[index][place.row]
        switch column {
        case .start, .end: moments.write(word, to: result)
        case .value:
            let value = Double(bitPattern: UInt64(bitPattern: word))
            if !value.isNaN { result.real(value) }
        default: result.integer(word)
        }
    }
}
