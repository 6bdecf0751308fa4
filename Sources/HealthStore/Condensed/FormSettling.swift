import HealthModel

/// Lets samples replace other forms of the same measurements, stretch by stretch. See `CondensedForms`.
struct FormSettling {
    private let writer: HealthStoreWriter
    private let user: Int
    private let names: SourceNames.Known
    private var sightings: Sightings
    private var counts = FormCounts()
    private var gone = SequenceSet()

    init(_ writer: HealthStoreWriter, user: Int) throws {
        (self.writer, self.user) = (writer, user)
        names = try writer.names.known(of: user)
        sightings = try Sightings(writer.brought, user: user)
    }

    mutating func settle(_ stretch: UnsettledTimes.Stretch) throws {
        var overlaps: [UnsettledTimes.Overlap] = []
        for group in try writer.groups(stretch, names, user: user).values { overlaps += try settle(group, stretch) }
        try writer.unsettled.set(overlaps, in: stretch, user: user)
    }

    /// Call this after the last stretch.
    mutating func end() throws -> FormCounts {
        // Their records could otherwise pass for known samples.
        if !counts.replaced.isEmpty { try writer.pieces.forget(holding: &gone, user: user) }
        return counts
    }

    /// Settles one source's rows.
    private mutating func settle(
        _ rows: [StoredRow], _ stretch: UnsettledTimes.Stretch
    ) throws -> [UnsettledTimes.Overlap] {
        let name = try writer.types.name(stretch.type)
        guard let style = CondensedForms.Style(HealthType.named(name)),
            rows.contains(where: { $0.state == .replaced }) || CondensedForms.mayCondense(rows.map(\.form))
        else { return [] }
        var known: [(row: StoredRow, form: SampleForm)] = []
        for row in rows {
            // What was taken back never was.
            if try row.state == .absent && !sightings.isBacked(row.born) { continue }
            known.append((row, try sightings.form(of: row)))
        }
        guard let outcome = CondensedForms.outcome(known.map(\.form), style) else { return [] }
        let replaced = outcome.replaced
        let left = zip(known, replaced).filter { !$1 && ($0.row.state == .alive || $0.row.state == .replaced) }
        for (index, entry) in known.enumerated() {
            var row = entry.row
            if replaced[index], row.state == .alive {
                row.state = .replaced
                counts.replaced[name, default: 0] += 1
                gone.insert(row.born)
                try writer.noteRepaired(row.born, as: HealthStoreWriter.replaced, user: user)
            } else if !replaced[index], row.state == .replaced, entry.form.overlaps(stretch.span) {
                // Only here is everything known that may stand for it.
                row.state = try sightings.isBacked(row.born) ? .alive : .absent
                if row.state == .alive { counts.restored[name, default: 0] += 1 }
            } else {
                continue
            }
            try writer.rewrite(&row, was: entry.row, user: user)
        }
        return CondensedForms.overlaps(left.map(\.0.form)).filter { $0.overlaps(stretch.span) }
            .map { .init(span: $0, isTogether: false) } + outcome.together.map { .init(span: $0, isTogether: true) }
    }
}
