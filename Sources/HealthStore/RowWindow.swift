import HealthModel

/// The rows that the records of a batch may claim, found by their ids; the window is reused for each batch.
///
/// It is bounded: for seconds with more than `crowd` rows, the rows aren't loaded in advance, and text beyond
/// `textLimit` is read when needed.
struct RowWindow {
    static let crowd = 4096
    static let textLimit = 1 << 20
    /// The maximum number of rows to load in advance for one type of a batch: 12 MB.
    static let rowLimit = 65_536

    private(set) var rows: ContiguousArray<StoredRow> = []
    private(set) var text: [UInt8] = []
    /// The seconds whose rows aren't loaded in advance.
    private(set) var crowded: Set<Int64> = []
    /// How many of the rows were loaded in advance.
    private var loaded = 0
    /// The seconds between which they start.
    private var loadedSeconds: ClosedRange<Int64>?
    /// Whether any row is coarse: see `RecordFlags.coarse`.
    private(set) var hasCoarse = false
    /// The rows that were loaded in advance, by second; built when first needed.
    private var seconds: [Int64: [Int]]?
    // A hash table with open addressing; ids are already hashes. −1 marks a free slot.
    private var table: ContiguousArray<Int32> = []
    private var mask = 0

    /// - Parameter expected: the number of rows to make room for.
    mutating func reset(expected: Int) {
        rows.removeAll(keepingCapacity: rows.capacity <= 4 * Self.crowd)
        text.removeAll(keepingCapacity: true)
        crowded.removeAll()
        (seconds, hasCoarse) = (nil, false)
        (loaded, loadedSeconds) = (0, nil)
        size(for: expected)
    }

    /// Call this once the rows are loaded.
    mutating func endLoading() {
        loaded = rows.count
        guard let first = rows.lazy.map(\.second).min(), let last = rows.lazy.map(\.second).max() else { return }
        loadedSeconds = first...last
    }

    /// The rows that were loaded in advance.
    var loadedRows: ContiguousArray<StoredRow>.SubSequence { rows[..<loaded] }

    /// Whether rows that start in that second may have been loaded in advance.
    func mayHold(_ second: Int64) -> Bool { loadedSeconds?.contains(second) == true && !crowded.contains(second) }

    func slot(of id: SampleID) -> Int? {
        var index = Int(truncatingIfNeeded: id.low) & mask
        while true {
            let slot = table[index]
            if slot < 0 { return nil }
            if rows[Int(slot)].id == id { return Int(slot) }
            index = (index + 1) & mask
        }
    }

    /// The rows of a second, as they were when this was first called after the window was filled.
    mutating func slots(inSecond second: Int64) -> [Int] {
        let all = seconds ?? Dictionary(grouping: rows.indices) { rows[$0].second }
        seconds = all
        return all[second] ?? []
    }

    @discardableResult
    mutating func append(_ row: StoredRow) -> Int {
        if (rows.count + 1) * 2 > table.count { size(for: rows.count * 2) }
        rows.append(row)
        hasCoarse = hasCoarse || row.isCoarse
        link(rows.count - 1)
        return rows.count - 1
    }

    mutating func append(_ row: StoredRow, metadata: UnsafeRawBufferPointer) {
        var row = row
        if text.count + metadata.count <= Self.textLimit {
            row.metadata = text.count..<(text.count + metadata.count)
            text.append(contentsOf: metadata)
        }
        append(row)
    }

    /// Changes a row; if its id changes, `relink` must follow.
    mutating func update(_ slot: Int, _ row: StoredRow) { rows[slot] = row }

    mutating func setClaimedBelow(_ slot: Int, _ ordinal: Int, child: Bool) {
        if child { rows[slot].claimedBelow.1 = ordinal } else { rows[slot].claimedBelow.0 = ordinal }
    }

    /// Records that the rows of this second haven't been loaded in advance.
    mutating func leaveOut(_ second: Int64) { crowded.insert(second) }

    /// Drops the rows of a second because there are too many; they must be the last ones loaded.
    mutating func giveUp(_ second: Int64) {
        crowded.insert(second)
        while let last = rows.last, last.second == second { rows.removeLast() }
        relink()
    }

    /// Call this after ids have changed.
    mutating func relink() { size(for: rows.count) }

    private mutating func size(for expected: Int) {
        var capacity = 64
        while capacity < expected * 4 { capacity *= 2 }
        if table.count == capacity {
            for index in table.indices { table[index] = -1 }
        } else {
            table = ContiguousArray(repeating: -1, count: capacity)
        }
        mask = capacity - 1
        for slot in rows.indices { link(slot) }
    }

    private mutating func link(_ slot: Int) {
        var index = Int(truncatingIfNeeded: rows[slot].id.low) & mask
        while table[index] >= 0 { index = (index + 1) & mask }
        table[index] = Int32(slot)
    }
}
