import Changelog
import HealthModel
import HealthPush
import HealthStore
import Protocol
import StageKit

/// What `check` and `status` ask for: how complete the samples are, what Apple counted, what is in quarantine. Nothing
/// is derived from these answers.
extension ObserverSource {
    /// The maximum number of values in the columns of one page: well within 64 KiB.
    private static let numbersPerPage = 9000
    private static let summariesPerPage = 150

    /// The dates with samples, and the late arrivals, of each type; a type with long columns continues on the next
    /// page.
    func complete(_ query: CompletenessQuery, _ asking: Asking, _ page: (CompletenessPage, Bool) -> Void) throws {
        try access.refresh(readsSamples: false, for: asking.consumer)
        let nightHours = query.nights ?? [:]
        guard nightHours.values.allSatisfy({ (1...24).contains($0) }) else {
            throw PullRefusal("'nights' must be hours from 1 to 24, by type")
        }
        let zones = try ZoneTables.timelines(in: database)
        let found = try completeness.types(
            zones: zones, nightHours: nightHours.mapValues { Int($0) }, budget: budget)
        guard let found else {
            return page(CompletenessPage(types: [], continue: TypePosition(user: "", type: "")), true)
        }
        let after = (query.continue?.user ?? "", query.continue?.type ?? "")
        let asked = found.filter {
            (query.user == nil || $0.head.user == query.user) && ($0.head.user, $0.head.type) > after
                && access.allows($0.head.type)
        }

        var rows: [TypeDaysRow] = []
        var room = Self.numbersPerPage
        var parts = 1
        func flush(then position: TypeHead?) {
            let position = position.map { TypePosition(user: $0.user, type: $0.type) }
            page(CompletenessPage(types: rows, continue: position), position != nil)
            rows = []
            room = Self.numbersPerPage
            parts += 1
        }
        var overlaps: [String: [String: TypeOverlaps]] = [:]
        for user in Set(asked.map(\.head.user)) { overlaps[user] = try store.overlaps(user: user) }
        for (index, type) in asked.enumerated() {
            for row in Self.rows(type, overlaps[type.head.user]?[type.head.type]) {
                if room < row.numbers, !rows.isEmpty { flush(then: nil) }
                rows.append(row.value)
                room -= row.numbers
            }
            // All pages about one type must be in the same answer.
            if budget.isBounded, parts >= Self.partsPerSlice / 2, index + 1 < asked.count {
                return flush(then: type.head)
            }
        }
        page(CompletenessPage(types: rows), true)
    }

    /// A type's row, or several rows with parts of its columns.
    private static func rows(
        _ type: TypeCompleteness, _ overlaps: TypeOverlaps?
    ) -> [(value: TypeDaysRow, numbers: Int)] {
        let head = type.head
        let step = numbersPerPage / 6
        // Runs are pairs.
        let pieces = max(1, (type.runs.count / 2 + step - 1) / step, (type.late.count + step - 1) / step)
        return (0..<pieces).map { piece in
            let runs = Array(type.runs.dropFirst(piece * step * 2).prefix(step * 2))
            let late = Array(type.late.dropFirst(piece * step).prefix(step))
            let reported = overlaps.map {
                TypeDaysRow.Overlaps(stretches: Int64($0.stretches), first: $0.first, last: $0.last)
            }
            let value = TypeDaysRow(
                user: head.user, type: head.type, sequence: head.sequence, samples: Int64(head.alive),
                firstStart: head.firstStart, lastEnd: head.lastEnd, runs: runs, lateDay: late.map(\.day),
                lateCount: late.map(\.arrivals.count), lateLongest: late.map(\.arrivals.longest),
                overlaps: piece == 0 ? reported : nil)
            return (value, 60 + runs.count + 4 * late.count)
        }
    }

    /// Apple's own figures for a user's days.
    func summaries(_ query: SummariesQuery, _ asking: Asking, _ page: (SummariesPage, Bool) -> Void) throws {
        try access.refuse(asking.consumer, what: "Apple's own figures")
        guard let from = LocalDay(query.from), let to = LocalDay(query.to) else {
            throw PullRefusal("a 'summaries' request needs dates as 'from' and 'to'")
        }
        var first = from
        for part in 1...Self.partsPerSlice {
            let rows = try store.activitySummaries(
                user: query.user, from: first, through: to, limit: Self.summariesPerPage)
            let found = try rows.map {
                SummariesPage.Row(date: $0.date, figures: try Value(json: Array($0.payload.utf8)))
            }
            let next = rows.count == Self.summariesPerPage ? rows.last.flatMap { LocalDay($0.date) } : nil
            let isLast = next == nil || part == Self.partsPerSlice
            let rest = isLast ? next?.adding(days: 1).description : nil
            page(SummariesPage(summaries: found, continue: rest), isLast)
            guard !isLast, let next else { return }
            first = next.adding(days: 1)
        }
    }

    func quarantine(_ query: QuarantineQuery, _ asking: Asking, _ page: (QuarantinePage, Bool) -> Void) throws {
        try access.refuse(asking.consumer, what: "the quarantine")
        let reasons = try store.quarantineReasons(user: query.user)
        page(QuarantinePage(reasons: reasons.map { .init(reason: $0.reason, count: Int64($0.count)) }), true)
    }

    /// The entries of the quarantine, oldest first. Contents are included only with `record`, and only for a single
    /// entry.
    func quarantined(
        _ query: QuarantinedQuery, _ asking: Asking, _ page: (QuarantinedPage, Bool) -> Void
    ) throws {
        try access.refuse(asking.consumer, what: "the quarantine")
        let selection = query.selection
        let single = query.record == true ? selection.numbers?.first : nil
        var after = single.map { $0 - 1 } ?? query.continue ?? 0
        for part in 1...Self.partsPerSlice {
            let found = try store.quarantinedRecords(
                user: query.user, after: after, limit: single == nil ? Self.entriesPerPage : 1,
                naming: WayIn.names)
            let isWhole = single != nil || found.count < Self.entriesPerPage
            let isLast = isWhole || part == Self.partsPerSlice
            after = found.last?.entry.number ?? after
            let rows = found.filter {
                selection.takes(number: $0.entry.number, reason: $0.entry.reason, type: $0.type ?? "")
            }
            let entries = try rows.map { row in
                try (single == nil ? row : current(row)).row(isWhole: single != nil)
            }
            page(QuarantinedPage(entries: entries, continue: isLast && !isWhole ? after : nil), isLast)
            if isLast { return }
        }
    }

    /// A conflict beside what is stored now, which may be newer than what was stored when it came.
    private func current(_ record: QuarantinedRecord) throws -> QuarantinedRecord {
        guard record.entry.reason == RecordConflict.reason, let conflict = RecordConflict(json: record.entry.raw) else {
            return record
        }
        var record = record
        record.entry.raw = try store.current(conflict, user: record.entry.user).json
        return record
    }

    private static let entriesPerPage = 100
}

extension QuarantinedRecord {
    /// - Parameter isWhole: whether to include the record's contents.
    func row(isWhole: Bool) -> QuarantinedRow {
        var row = QuarantinedRow(
            number: entry.number, user: entry.user,
            type: type ?? (entry.sample == nil ? HealthStoreReader.typeOrElement(of: entry.raw) : nil),
            kind: entry.sample == nil ? .input : .sample, reason: entry.reason, source: entry.source,
            line: entry.line, seen: entry.seen, start: sample?.start, end: sample?.end)
        guard isWhole else { return row }
        guard let sample else {
            row.record = .input(raw: entry.raw)
            return row
        }
        row.record = .sample(
            .init(
                id: entry.sample?.description, value: sample.value.isFinite ? sample.value : nil, unit: sample.unit,
                sourceName: sample.origin.sourceName, sourceVersion: sample.origin.sourceVersion,
                device: sample.origin.device, metadata: sample.metadata, payload: sample.payload,
                created: sample.created == 0 ? nil : Instant(seconds: sample.created)))
        return row
    }
}
