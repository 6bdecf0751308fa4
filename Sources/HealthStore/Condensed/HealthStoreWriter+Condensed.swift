import HealthModel
import SQLite

/// How samples have changed because other forms of the same measurements came, by type.
package struct FormCounts: Sendable, Equatable {
    /// Samples that another form has replaced.
    package var replaced: [String: Int] = [:]
    /// Samples that had been replaced, and count again.
    package var restored: [String: Int] = [:]

    package init() {}

    package static func += (a: inout FormCounts, b: FormCounts) {
        a.replaced.merge(b.replaced, uniquingKeysWith: +)
        a.restored.merge(b.restored, uniquingKeysWith: +)
    }
}

/// A new sample as a trial run remembers it.
struct TriedForm {
    var type: Int
    /// The name by which its source is identified.
    var key: String
    var unit: Int
    var form: SampleForm
}

// See `CondensedForms`.
extension HealthStoreWriter {
    /// Performs one step of letting samples replace other forms of the same measurements, where imports have added any.
    /// Each step is a transaction of its own.
    /// - Parameter limit: how many stretches of time to examine in this step.
    /// - Returns: what has changed, and whether this was the last step.
    package func settleForms(limit: Int = 64) throws -> (counts: FormCounts, isDone: Bool) {
        try change { user in
            let stretches = try unsettled.next(limit, user: user)
            let counts = try settle(stretches, user: user)
            for stretch in stretches { try unsettled.forget(stretch, user: user) }
            return (counts, stretches.count < limit)
        }
    }

    /// Records where a file's records have added samples, or settles those of a request at once.
    func noteTimes(of session: ImportSession, user: Int) throws {
        defer { session.times = [:] }
        for (type, times) in session.times.sorted(by: { $0.key < $1.key }) {
            if session.isFile {
                try unsettled.note(times, type: type, user: user)
            } else {
                _ = try settle(times.stretches(of: type), user: user)
            }
        }
    }

    /// Everything that was replaced is examined again.
    func unsettleReplaced(user: Int) throws {
        let list = try database.prepare(
            """
            SELECT type, second, (start_us + duration) / 1000000 FROM samples INDEXED BY samples_replaced
            WHERE user = ? AND state = \(SampleState.replaced.rawValue)
            """)
        var times: [Int: TimeSpans] = [:]
        try list.with(user).forEachRow { row in
            times[row.int(0), default: TimeSpans()].add(row.int64(1)...(row.int64(1) &+ max(0, row.int64(2))))
        }
        for (type, times) in times { try unsettled.note(times, type: type, user: user) }
    }

    private func settle(_ stretches: [UnsettledTimes.Stretch], user: Int) throws -> FormCounts {
        var settling = try FormSettling(self, user: user)
        for stretch in stretches { try settling.settle(stretch) }
        return try settling.end()
    }

    struct Group: Hashable {
        var key: String
        var unit: Int
    }

    /// The rows that overlap a stretch or lie in samples that do, by source.
    func groups(
        _ stretch: UnsettledTimes.Stretch, _ names: SourceNames.Known, renamed: [String: String] = [:], user: Int
    ) throws -> [Group: [StoredRow]] {
        guard CondensedForms.Style(HealthType.named(try types.name(stretch.type))) != nil else { return [:] }
        let reach = try heads.reach(user: user, type: stretch.type)
        let seconds = (stretch.span.lowerBound &- 2 * reach)...(stretch.span.upperBound &+ 2 * reach)
        var groups: [Group: [StoredRow]] = [:]
        for row in try rows.rows(type: stretch.type, startingIn: seconds, user: user) where row.state != .quarantined {
            let source = try origins.origin(row.origin).sourceName
            let key = renamed[source] ?? names.key(source)
            groups[Group(key: key, unit: row.unit), default: []].append(row)
        }
        return groups
    }

    /// How many samples of one source stand for samples of another, by the sources' names.
    func standIns(
        for pairs: [SessionNames.Pair], in stretch: UnsettledTimes.Stretch, _ session: ImportSession, user: Int
    ) throws -> [SessionNames.Pair: Int] {
        guard let style = CondensedForms.Style(HealthType.named(try types.name(stretch.type))) else { return [:] }
        let groups = try groups(stretch, names.known(of: user), user: user)
        var found: [SessionNames.Pair: Int] = [:]
        let byKey = Dictionary(grouping: groups) { $0.key.key }
        for pair in pairs {
            for (group, rows) in byKey[pair.given] ?? [] {
                let stored = groups[Group(key: pair.stored, unit: group.unit), default: []].filter {
                    $0.state == .alive && !session.hasClaimed($0)
                }
                let given = rows.filter { $0.state == .alive && session.hasClaimed($0) }
                let forms = stored.map(\.form) + given.map(\.form)
                guard CondensedForms.mayCondense(forms) else { continue }
                let count = CondensedForms.outcome(forms, style)?.replaced.lazy.filter { $0 }.count ?? 0
                if count > 0 { found[pair, default: 0] += count }
            }
        }
        return found
    }

    /// How many samples a trial run's records would replace, by type.
    package func wouldBeReplaced(by session: ImportSession) throws -> [String: Int] {
        forgetWhatWasUndone()
        guard let user = try users.existing(self.user) else { return [:] }
        var counts: [String: Int] = [:]
        _ = try wouldBeReplaced(by: session, user: user) { counts[try types.name($0.type), default: 0] += 1 }
        return counts
    }

    /// What a trial run's records would replace: the rows, by the sequences under which they were first stored.
    func wouldBeReplaced(
        by session: ImportSession, user: Int, _ visit: (StoredRow) throws -> Void = { _ in }
    ) throws -> SequenceSet {
        var gone = SequenceSet()
        var sightings = try Sightings(brought, user: user)
        let names = try names.known(of: user)
        let exported = session.exported?.microseconds ?? .min
        let tried = Dictionary(grouping: session.triedForms) { SIMD2(Int64($0.type), $0.form.start / Self.day) }
        for (type, times) in session.times {
            guard let style = CondensedForms.Style(HealthType.named(try types.name(type))) else { continue }
            for stretch in times.stretches(of: type) {
                // A sample that is condensed takes less than a day, and so does a stretch.
                let days = (stretch.span.lowerBound / Self.day - 1)...(stretch.span.upperBound / Self.day + 1)
                let near = days.flatMap { tried[SIMD2(Int64(type), $0)] ?? [] }
                for (group, rows) in try groups(stretch, names, user: user) {
                    var forms = near.filter {
                        $0.key == group.key && $0.unit == group.unit && $0.form.overlaps(stretch.span)
                    }.map(\.form)
                    let new = forms.count
                    guard new > 0, CondensedForms.mayCondense(forms + rows.map(\.form)) else { continue }
                    for row in rows {
                        var form = try sightings.form(of: row)
                        if session.hasClaimed(row) {
                            form.imports.append(Self.trial)
                            form.exported = max(form.exported, exported)
                        }
                        forms.append(form)
                    }
                    guard let replaced = CondensedForms.outcome(forms, style)?.replaced else { continue }
                    for (index, row) in rows.enumerated()
                    where replaced[new + index] && row.state == .alive && !gone.contains(row.born) {
                        gone.insert(row.born)
                        try visit(row)
                    }
                }
            }
        }
        return gone
    }

    /// Stands for the import that is tried out; no other has this number.
    static let trial = -1
    private static let day: Int64 = 86_400
}

extension StoredRow {
    /// The row's numbers; where it was seen is still missing.
    var form: SampleForm {
        SampleForm(
            start: second, end: Instant(microseconds: end).flooredSecond, value: value,
            isThere: state == .alive || state == .replaced,
            created: created == 0 ? .min : created &* Instant.microsecondsPerSecond)
    }
}

extension SampleForm {
    func overlaps(_ span: ClosedRange<Int64>) -> Bool { start <= span.upperBound && end >= span.lowerBound }
}

extension TimeSpans {
    /// At most a day each.
    func stretches(of type: Int) -> [UnsettledTimes.Stretch] {
        var times = self
        times.join()
        return times.spans.flatMap { span in
            stride(from: span.lowerBound, through: span.upperBound, by: 86_400).map {
                UnsettledTimes.Stretch(type: type, span: $0...min(span.upperBound, $0 &+ 86_399))
            }
        }
    }
}
