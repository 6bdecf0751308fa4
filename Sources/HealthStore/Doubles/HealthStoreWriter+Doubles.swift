import HealthModel
import SQLite

// Earlier releases didn't recognize renamed sources and condensed samples. This finds what they stored twice and, if
// wanted, lets it count once, as an import does now.
extension HealthStoreWriter {
    /// Performs one step of searching for doubles or of repairing them; each step is a transaction of its own.
    /// - Parameters:
    ///   - dates: when imports from before this was recorded took place, by their ids: their exports are about as old.
    ///   - limit: how many rows to examine in this step.
    package func settleDoubles(
        _ progress: inout DoublesProgress, dates: [String: Instant], limit: Int = 50_000
    ) throws -> DoublesCounts {
        guard try users.existing(self.user) != nil else {
            progress.phase = .done
            return progress.counts
        }
        switch progress.phase {
        case .done: break
        case .names(let place):
            let user = try users.id(self.user)
            var sightings = try Sightings(brought, user: user)
            let next = try forEachDay(from: place, limit: limit, user: user) { type, _, rows in
                try survey(rows, type, &sightings, &progress.survey, user: user)
            }
            progress.phase = next.map { .names($0) } ?? .linking
        case .linking: try link(&progress, dates: dates)
        case .rewriting(var names):
            repairing = progress.isTrial ? nil : progress.id
            defer { repairing = nil }
            _ = try settleNames(of: nil, &names, limit: limit)
            progress.phase = names.isDone ? .forms(.init()) : .rewriting(names)
        case .forms(let place):
            let user = try users.id(self.user)
            var found: [UnsettledTimes.Stretch] = []
            let next = try forEachDay(from: place, limit: limit, user: user) { type, day, rows in
                guard CondensedForms.Style(HealthType.named(try types.name(type))) != nil,
                    CondensedForms.mayCondense(rows.map(\.form))
                else { return }
                found.append(.init(type: type, span: day...(day + 86_399)))
            }
            if progress.isTrial {
                for stretch in found { try count(stretch, &progress, user: user) }
            } else {
                try change { user in try unsettled.note(found, user: user) }
            }
            progress.phase = next.map { .forms($0) } ?? (progress.isTrial ? .done : .settling)
        case .settling:
            repairing = progress.id
            defer { repairing = nil }
            let step = try settleForms()
            progress.counts.replaced.merge(step.counts.replaced, uniquingKeysWith: +)
            guard step.isDone else { break }
            try settleWorkouts()
            progress.phase = .done
        }
        return progress.counts
    }

    /// Visits the rows that start on each day, type by type.
    /// - Returns: where to go on; nil at the end.
    private func forEachDay(
        from place: DoublesProgress.Place, limit: Int, user: Int,
        _ visit: (_ type: Int, _ day: Int64, _ rows: [StoredRow]) throws -> Void
    ) throws -> DoublesProgress.Place? {
        let list = try database.prepare(
            "SELECT type FROM heads WHERE user = ? AND type >= ? AND alive > 0 ORDER BY type")
        let numbers = try list.with(user, place.type).rows { $0.int(0) }
        var scanned = 0
        for type in numbers {
            guard let times = try heads.times(user: user, type: type) else { continue }
            var day = type == place.type ? max(place.day, Self.day(times.lowerBound)) : Self.day(times.lowerBound)
            while day <= times.upperBound {
                if scanned > limit { return .init(type: type, day: day) }
                let rows = try self.rows.rows(type: type, startingIn: day...(day + 86_399), user: user).filter {
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

    private func survey(
        _ rows: [StoredRow], _ type: Int, _ sightings: inout Sightings, _ survey: inout NameSurvey, user: Int
    ) throws {
        let typeName = try types.name(type)
        var byTimes: [SIMD2<Int64>: [Int]] = [:]
        var imports: [[Int]] = []
        for (index, row) in rows.enumerated() {
            imports.append(try sightings.imports(of: row.born))
            survey.add(try origins.origin(row.origin).sourceName, imports: imports[index])
            byTimes[SIMD2(row.second, row.form.end), default: []].append(index)
        }
        for indices in byTimes.values where indices.count > 1 {
            for (position, first) in indices.enumerated() {
                for second in indices[(position + 1)...] where try areDoubles(rows[first], rows[second], user: user) {
                    let names = try [first, second].map { try origins.origin(rows[$0].origin).sourceName }.sorted()
                    // Of samples that only devices brought, it isn't known what was there together.
                    guard names[0] != names[1], !imports[first].isEmpty || !imports[second].isEmpty else { continue }
                    survey.add(
                        .init(a: names[0], b: names[1]), type: typeName,
                        isTogether: imports[first].contains(where: imports[second].contains))
                }
            }
        }
    }

    private func areDoubles(_ a: StoredRow, _ b: StoredRow, user: Int) throws -> Bool {
        guard a.unit == b.unit, StoredValue.agrees(a.value, b.value), a.uuid == nil || b.uuid == nil else {
            return false
        }
        guard a.value.isNaN else { return true }
        return try rows.text(.payload, of: a, user: user) == rows.text(.payload, of: b, user: user)
    }

    /// Decides which names belong together and, unless this is a trial, records it.
    private func link(_ progress: inout DoublesProgress, dates: [String: Instant]) throws {
        let user = try users.id(self.user)
        let known = try brought.imports(of: user).dates
        let ids = try brought.ids(of: user)
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
        try change { user in
            for (bringer, date) in all where known[bringer] == nil { try brought.date(bringer, exported: date) }
            for (bringer, names) in survey.mentions { try self.names.mention(names, by: bringer, user: user) }
            for (from, to, _) in renamings {
                for name in [from, to] where survey.first(name, all) < .max {
                    try names.see([name], at: survey.first(name, all), user: user)
                }
                let number = try brought.number(.repair(id: id, way: Self.links), user: user)
                try names.add(.init(name: to, other: from, bringer: number), user: user)
                try names.need(names.known(of: user).group(to), user: user)
            }
        }
        progress.phase = .rewriting(NameProgress())
    }

    private func count(_ stretch: UnsettledTimes.Stretch, _ progress: inout DoublesProgress, user: Int) throws {
        let name = try types.name(stretch.type)
        guard let style = CondensedForms.Style(HealthType.named(name)) else { return }
        var sightings = try Sightings(brought, user: user)
        for rows in try groups(stretch, names.known(of: user), renamed: progress.keys, user: user).values {
            let forms = try rows.map { try sightings.form(of: $0) }
            guard let replaced = CondensedForms.outcome(forms, style)?.replaced else { continue }
            let count = zip(rows, replaced).filter { $1 && $0.state == .alive && stretch.span.contains($0.second) }
                .count
            if count > 0 { progress.counts.replaced[name, default: 0] += count }
        }
    }

    // What a repair records.
    static let links = "links"
    static let merged = "merged"
    static let replaced = "replaced"

    /// Records that the current repair has changed a row.
    func noteRepaired(_ born: SequenceNumber, as way: String, user: Int) throws {
        guard let repairing else { return }
        try brought.add(born.value, of: brought.number(.repair(id: repairing, way: way), user: user))
    }

    /// Whether a user's last repair can be undone.
    package func lastRepair() throws -> String? {
        forgetWhatWasUndone()
        guard let user = try users.existing(self.user) else { return nil }
        return try brought.repairs(of: user).last?.id
    }

    /// Performs one step of taking a repair back: what was stored twice is stored twice again.
    package func undoRepair(_ undo: inout RepairUndo, limit: Int = 50_000) throws {
        switch undo.phase {
        case .done: break
        case .naming(var progress):
            _ = try settleNames(of: nil, &progress, limit: limit)
            undo.phase = progress.isDone ? .done : .naming(progress)
        case .restoring(let after, let through):
            var (counts, phase) = (undo.counts, undo.phase)
            try change(settle: false) { user in
                let repairs = try brought.repairs(of: user).filter { $0.id == undo.id }
                if after == .beginning {
                    let numbers = repairs.map(\.number)
                    counts.renamed = try names.known(of: user).links.filter { numbers.contains($0.bringer) }
                        .map { .init(from: $0.other, to: $0.name, samples: 0) }
                    try names.forget(numbers, user: user)
                }
                let end = through ?? sequence
                let (reached, isWhole) = try restore(repairs, &counts, after: after, through: end, limit, user: user)
                phase = .restoring(after: reached, through: end)
                guard isWhole else { return }
                for repair in repairs { try brought.drop(repair.number) }
                try heads.finish(user: user)
                phase = .naming(NameProgress())
            }
            (undo.counts, undo.phase) = (counts, phase)
        }
    }

    private func restore(
        _ repairs: [(number: Int, id: String, way: String)], _ counts: inout DoublesCounts, after: SequenceNumber,
        through: SequenceNumber, _ limit: Int, user: Int
    ) throws -> (SequenceNumber, Bool) {
        var changed = [Self.merged, Self.replaced].map { way in
            BroughtNotes(brought, of: repairs.filter { $0.way == way }.map(\.number), amongRepairs: true)
        }
        var found: [StoredRow] = []
        let step = try walk(SequenceWindow(after: after, through: through), limit: limit, user: user) { row, _ in
            let isMerged = try row.state == .absent && row.isMoved && changed[0].origins(of: row.born).theirs
            if try isMerged || row.state == .replaced && changed[1].origins(of: row.born).theirs { found.append(row) }
            return found.count < PendingBlock.rowLimit
        }
        for old in found {
            let row = try rewrite(old, user: user) { ($0.state, $0.flags) = (.alive, $0.flags & ~StoredRow.moved) }
            let type = try types.name(row.type)
            guard old.state == .absent else {
                counts.replaced[type, default: 0] += 1
                continue
            }
            counts.merged[type, default: 0] += 1
            let source = try origins.origin(row.origin).sourceName
            for index in counts.renamed.indices where counts.renamed[index].to == source {
                counts.renamed[index].samples += 1
            }
            for other in try rows.rows(type: row.type, startingIn: row.second...row.second, user: user)
            where other.born != row.born && other.state == .alive && other.unit == row.unit && other.end == row.end
                && StoredValue.agrees(other.value, row.value)
            {
                try brought.subtract(row.born.value, from: other.born.value)
            }
        }
        return step
    }
}
