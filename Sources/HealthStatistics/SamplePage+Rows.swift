import HealthModel

extension SamplePage {
    /// Whether the row counts in figures, which means that it is plausible and not deleted.
    public func counts(_ row: Int) -> Bool { flags[row].isDisjoint(with: [.deleted, .quarantined]) }

    /// The rows of one type that count in figures, in canonical order (start, id).
    public func rows(of identifier: String) -> [Int] {
        guard let index = types.firstIndex(of: identifier) else { return [] }
        var rows: [Int] = []
        for row in 0..<count where type[row] == Int32(index) && counts(row) { rows.append(row) }
        return canonical(rows)
    }

    /// The rows that count in figures, grouped by type, each group in canonical order.
    public func rowsByType() -> [String: [Int]] {
        var lists: [[Int]] = Array(repeating: [], count: types.count)
        for row in 0..<count where counts(row) { lists[Int(type[row])].append(row) }
        var byType: [String: [Int]] = [:]
        for (identifier, rows) in zip(types, lists) where !rows.isEmpty { byType[identifier] = canonical(rows) }
        return byType
    }

    /// Stores return rows in this order, so sorting is seldom needed.
    private func canonical(_ rows: [Int]) -> [Int] {
        func precedes(_ a: Int, _ b: Int) -> Bool { (start[a], ids[a]) < (start[b], ids[b]) }
        for (a, b) in zip(rows, rows.dropFirst()) where precedes(b, a) { return rows.sorted(by: precedes) }
        return rows
    }
}
