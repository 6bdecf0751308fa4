import HealthModel

/// The rule for overlapping sources, applied cell by cell (minutes): a simple method, and a different one from the merge
/// under test.
struct GridMerge {
    private let rows: [PageBuilder.Row]
    /// The priority of each row; 0 is the highest.
    private let priorities: [Int]
    private let window: Range<Int>
    /// Whether the user put all sources in order.
    private let isChosen: Bool
    /// What counts in each cell; nil if nothing does.
    private var cells: [Double?]

    /// - Parameters:
    ///   - rows: must begin and end with whole cells within `0..<count`.
    ///   - sources: names in order of priority; manual entries take precedence over all of them.
    init(rows: [PageBuilder.Row], sources: [String], isChosen: Bool, count: Int, window: Range<Int>) {
        let byHand = Set(rows.filter { $0.flags.contains(.userEntered) }.map(\.source)).sorted()
        self.rows = rows
        self.window = window
        self.isChosen = isChosen
        priorities = rows.map { row in
            row.flags.contains(.userEntered)
                ? byHand.firstIndex(of: row.source) ?? 0
                : byHand.count + (sources.firstIndex(of: row.source) ?? sources.count)
        }
        cells = Array(repeating: nil, count: count)
        let sums = rows.indices.filter(isSum)
        for cell in cells.indices { addSamples(to: cell, sums) }
        for sum in inOrder(sums) { add(sum, sums) }
    }

    /// The sums for buckets that are given in whole cells; nil if nothing counts.
    func sums(_ buckets: [Range<Int>]) -> [Double?] {
        buckets.map { bucket in
            let counting = bucket.compactMap { cells[$0] }
            return counting.isEmpty ? nil : counting.reduce(0, +)
        }
    }

    private func span(_ row: Int) -> Range<Int> {
        Int(rows[row].start / RandomSamples.cell)..<Int(rows[row].end / RandomSamples.cell)
    }

    private func isInstant(_ row: Int) -> Bool { span(row).isEmpty }

    private func isSum(_ row: Int) -> Bool {
        guard !rows[row].flags.contains(.userEntered) else { return false }
        guard isInstant(row) else { return span(row).count >= 240 }
        let others = rows.indices.filter {
            priorities[$0] == priorities[row]
                && (isInstant($0) ? window.contains(span($0).lowerBound) : span($0).overlaps(window))
        }
        return others == [row]
    }

    /// The cells for which a sum stands.
    private func time(_ sum: Int) -> Range<Int> { isInstant(sum) ? window : span(sum).clamped(to: window) }

    private func stated(_ sum: Int) -> Double {
        isInstant(sum) ? rows[sum].value : rows[sum].value * Double(time(sum).count) / Double(span(sum).count)
    }

    private mutating func addSamples(to cell: Int, _ sums: [Int]) {
        let spanning = rows.indices.filter { !sums.contains($0) && span($0).contains(cell) }
        let taken = isChosen ? sums.filter { time($0).contains(cell) }.map { priorities[$0] } : []
        if let first = spanning.map({ priorities[$0] }).min(), taken.allSatisfy({ first <= $0 }) {
            for row in spanning where priorities[row] == first { add(rows[row].value / Double(span(row).count), cell) }
        }
        for row in rows.indices where isInstant(row) && !sums.contains(row) && span(row).lowerBound == cell {
            let above = spanning.map { priorities[$0] } + taken
            if above.allSatisfy({ $0 >= priorities[row] }) { add(rows[row].value, cell) }
        }
    }

    private func inOrder(_ sums: [Int]) -> [Int] {
        sums.filter { !time($0).isEmpty }.sorted { a, b in
            if isChosen, priorities[a] != priorities[b] { return priorities[a] < priorities[b] }
            return time(a).count == time(b).count ? stated(a) > stated(b) : time(a).count < time(b).count
        }
    }

    private mutating func add(_ sum: Int, _ sums: [Int]) {
        let above = isChosen ? sums.filter { priorities[$0] < priorities[sum] }.map(time) : []
        let free = time(sum).filter { cell in !above.contains { $0.contains(cell) } }
        let value = stated(sum) * Double(free.count) / Double(time(sum).count)
        let others = free.compactMap { cells[$0] }
        let rest = value - others.reduce(0, +)
        guard others.isEmpty || rest > 0 else { return }
        for cell in free { add(rest / Double(free.count), cell) }
    }

    private mutating func add(_ value: Double, _ cell: Int) { cells[cell] = (cells[cell] ?? 0) + value }
}
