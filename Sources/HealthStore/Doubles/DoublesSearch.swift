import HealthModel
import SQLite

/// Searches one user's samples for doubles, and gives back what a repair of them has changed.
struct DoublesSearch {
    let writer: HealthStoreWriter
    let user: Int

    /// Visits the rows that start on each day, type by type.
    /// - Returns: where to go on; nil at the end.
    func forEachDay(
        from place: DoublesProgress.Place, limit: Int,
        _ visit: (_ type: Int, _ day: Int64, _ rows: [StoredRow]) throws -> Void
    ) throws -> DoublesProgress.Place? {
        let list = try writer.database.prepare(
            "SELECT type FROM heads WHERE user = ? AND type >= ? AND alive > 0 ORDER BY type")
        let numbers = try list.with(user, place.type).rows { $0.int(0) }
        var scanned = 0
        for type in numbers {
            guard let times = try writer.heads.times(user: user, type: type) else { continue }
            var day = type == place.type ? max(place.day, Self.day(times.lowerBound)) : Self.day(times.lowerBound)
            while day <= times.upperBound {
                if scanned > limit { return .init(type: type, day: day) }
                let rows = try writer.rows.rows(type: type, startingIn: day...(day + 86_399), user: user).filter {
                    $0.state == .alive
                }
                // A day without rows costs something, too.
                scanned += rows.count + 20
                try visit(type, day, rows)
                day += 86_400
            }
        }
        return nil
    }

    private static func day(_ second: Int64) -> Int64 { second - ((second % 86_400) + 86_400) % 86_400 }

    func survey(
        _ rows: [StoredRow], _ type: Int, _ sightings: inout Sightings, _ survey: inout NameSurvey
    ) throws {
        let typeName = try writer.types.name(type)
        var byTimes: [SIMD2<Int64>: [Int]] = [:]
        var imports: [[Int]] = []
        for (index, row) in rows.enumerated() {
            imports.append(try sightings.imports(of: row.born))
            survey.add(try writer.origins.origin(row.origin).sourceName, imports: imports[index])
            byTimes[SIMD2(row.second, row.form.end), default: []].append(index)
        }
        for indices in byTimes.values where indices.count > 1 {
            for (position, first) in indices.enumerated() {
                for second in indices[(position + 1)...] where try areDoubles(rows[first], rows[second]) {
                    let names = try [first, second].map { try writer.origins.origin(rows[$0].origin).sourceName }
                        .sorted()
                    // Of samples that only devices brought, it isn't known what was there together.
                    guard names[0] != names[1], !imports[first].isEmpty || !imports[second].isEmpty else { continue }
                    survey.add(
                        .init(a: names[0], b: names[1]), type: typeName,
                        isTogether: imports[first].contains(where: imports[second].contains))
                }
            }
        }
    }

    private func areDoubles(_ a: StoredRow, _ b: StoredRow) throws -> Bool {
        guard a.unit == b.unit, StoredValue.agrees(a.value, b.value), a.uuid == nil || b.uuid == nil else {
            return false
        }
        guard a.value.isNaN else { return true }
        return try writer.rows.text(.payload, of: a, user: user) == writer.rows.text(.payload, of: b, user: user)
    }

    /// Decides which names belong together and, unless this is a trial, records it.
    func link(_ progress: inout DoublesProgress, dates: [String: Instant]) throws {
        let known = try writer.brought.imports(of: user).dates
        let ids = try writer.brought.ids(of: user)
        let all = ids.reduce(into: known) { all, entry in
            if all[entry.key] == nil { all[entry.key] = dates[entry.value]?.microseconds }
        }
        let renamings = progress.survey.renamings(all)
        for (from, to, samples) in renamings {
            progress.counts.renamed.append(.init(from: from, to: to, samples: samples.values.reduce(0, +)))
            progress.counts.merged.merge(samples, uniquingKeysWith: +)
        }
        progress.keys = SourceNames.groups(renamings.map { ($0.from, $0.to) }).mapValues { $0.min() ?? "" }
        guard !progress.isTrial else {
            progress.phase = .forms(.init())
            return
        }
        let survey = progress.survey
        let id = progress.id
        try writer.change { user in
            for (bringer, date) in all where known[bringer] == nil { try writer.brought.date(bringer, exported: date) }
            for (bringer, names) in survey.mentions { try writer.names.mention(names, by: bringer, user: user) }
            for (from, to, _) in renamings {
                for name in [from, to] where survey.first(name, all) < .max {
                    try writer.names.see([name], at: survey.first(name, all), user: user)
                }
                let number = try writer.brought.number(.repair(id: id, way: HealthStoreWriter.links), user: user)
                try writer.names.add(.init(name: to, other: from, bringer: number), user: user)
                try writer.names.need(writer.names.known(of: user).group(to), user: user)
            }
        }
        progress.phase = .rewriting(NameProgress())
    }

    /// Counts what other forms would replace.
    func count(_ stretch: UnsettledTimes.Stretch, _ progress: inout DoublesProgress) throws {
        let name = try writer.types.name(stretch.type)
        guard let style = CondensedForms.Style(HealthType.named(name)) else { return }
        var sightings = try Sightings(writer.brought, user: user)
        for rows in try writer.groups(stretch, writer.names.known(of: user), renamed: progress.keys, user: user).values
        {
            let forms = try rows.map { try sightings.form(of: $0) }
            guard let replaced = CondensedForms.outcome(forms, style)?.replaced else { continue }
            let count = zip(rows, replaced).filter { $1 && $0.state == .alive && stretch.span.contains($0.second) }
                .count
            if count > 0 { progress.counts.replaced[name, default: 0] += count }
        }
    }

    /// Gives back what a repair has changed.
    func restore(
        _ repairs: [(number: Int, id: String, way: String)], _ counts: inout DoublesCounts, after: SequenceNumber,
        through: SequenceNumber, limit: Int
    ) throws -> (SequenceNumber, Bool) {
        var changed = [HealthStoreWriter.merged, HealthStoreWriter.replaced].map { way in
            BroughtNotes(writer.brought, of: repairs.filter { $0.way == way }.map(\.number), amongRepairs: true)
        }
        var found: [StoredRow] = []
        let step = try writer.walk(SequenceWindow(after: after, through: through), limit: limit, user: user) { row, _ in
            let isMerged = try row.state == .absent && row.isMoved && changed[0].origins(of: row.born).theirs
            if try isMerged || row.state == .replaced && changed[1].origins(of: row.born).theirs { found.append(row) }
            return found.count < PendingBlock.rowLimit
        }
        for old in found {
            let row = try writer.rewrite(old, user: user) {
                ($0.state, $0.flags) = (.alive, $0.flags & ~StoredRow.moved)
            }
            let type = try writer.types.name(row.type)
            guard old.state == .absent else {
                counts.replaced[type, default: 0] += 1
                continue
            }
            counts.merged[type, default: 0] += 1
            let source = try writer.origins.origin(row.origin).sourceName
            for index in counts.renamed.indices where counts.renamed[index].to == source {
                counts.renamed[index].samples += 1
            }
            for other in try writer.rows.rows(type: row.type, startingIn: row.second...row.second, user: user)
            where other.born != row.born && other.state == .alive && other.unit == row.unit && other.end == row.end
                && StoredValue.agrees(other.value, row.value)
            {
                try writer.brought.subtract(row.born.value, from: other.born.value)
            }
        }
        return step
    }
}
