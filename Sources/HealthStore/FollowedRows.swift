import HealthModel

/// Rows of one type that come from another store.
struct FollowedRows {
    let writer: HealthStoreWriter
    let page: SamplePage
    /// All HealthKit UUIDs of the page, whatever the type.
    let uuids: Set<SampleID>
    /// The type's number in this store or, if there is no room for the type's name, a number that no row has.
    let type: Int
    let isStrange: Bool
    /// Units whose names this store has no room for.
    let strangeUnits: Set<String>
    let user: Int
    let source: String
    /// Whether samples from the other store may be kept in the quarantine as text.
    let mayBeKeptApart: Bool
    let rule: (Double, Instant, Instant) -> String?
    var counts: FollowCounts

    /// Why a row can't be true; the text doesn't contain its value.
    func reason(_ row: Int) -> String? {
        SampleGuard.reason(start: page.start[row], end: page.end[row], value: page.value[row], rule: rule)
    }

    func hasPossibleTimes(_ row: Int) -> Bool {
        SampleGuard.reason(start: page.start[row], end: page.end[row], value: .nan) { _, _, _ in nil } == nil
    }

    /// The reason why this store has no room for a row's names; nil if it has room.
    func strangeness(_ row: Int) -> String? {
        if isStrange { return RefusedNames.reason(page.typeName(row), isType: true) }
        let unit = page.units[Int(page.unit[row])]
        return strangeUnits.contains(unit) ? RefusedNames.reason(unit, isType: false) : nil
    }

    /// A row as an element of an export.
    func element(_ row: Int) -> String {
        ElementText.of(
            page.typeName(row), page.originOf(row), unit: page.units[Int(page.unit[row])], page.startOf(row),
            page.endOf(row), page.value[row])
    }

    func texts(_ row: Int) -> (metadata: [UInt8], payload: [UInt8]) {
        (text(page.metadata, row), text(page.payload, row))
    }

    private func text(_ column: TextColumn, _ row: Int) -> [UInt8] {
        column.count == 0 ? [] : [UInt8](column.bytes[column.range(row)])
    }
}

extension SamplePage {
    /// Row numbers grouped by type (an index into `types`) and ordered by start within each type, so that the rows fit
    /// into blocks. An id that occurs twice counts once.
    func rowsByTypeAndTime() -> [(type: Int, rows: [Int])] {
        var groups: [Int: [Int]] = [:]
        var seen: Set<SampleID> = []
        for row in 0..<count where seen.insert(ids[row]).inserted { groups[Int(type[row]), default: []].append(row) }
        return groups.keys.sorted().map { type in
            (type, (groups[type] ?? []).sorted { (start[$0], ids[$0]) < (start[$1], ids[$1]) })
        }
    }
}
