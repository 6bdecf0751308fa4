import Changelog
import HealthModel
import MessageBus
import Protocol
import StageKit

/// Which files should be there, by what the stack holds: finds those that neither the ledger nor the folder knows.
///
/// The observer says from when to when it has samples of each type. Of that time only the gaps between the known files
/// are read: each is a single short question, as nothing should be in them.
extension FilesStage {
    /// Asks the next question; when there is none left, comparing begins.
    func moveExpecting(_ turn: Turn) throws -> MonotonicTime? {
        guard turn.monotonic >= proof.notBefore else { return proof.notBefore }
        guard proof.question == nil else { return nil }
        if proof.isUnasked {
            proof.question = turn.pull(samples.producer, .types).id
            return nil
        }
        while true {
            if let gap = proof.gaps.last {
                let cursor = samples.cursor
                let slice = SliceRequest(
                    user: gap.user, types: .only([gap.type]), asOf: cursor.anchor, from: gap.from, to: gap.to,
                    detailed: .list([]), continue: gap.place)
                let place = PullPlace(store: cursor.store, generation: cursor.generation)
                proof.question = turn.pull(samples.producer, .slice(slice), place).id
                return nil
            }
            guard let row = proof.types.popLast() else { break }
            proof.gaps = try gaps(row, turn)
        }
        // These are marked, and perhaps not in the ledger.
        proof.expect(try Set(stuck.keys.filter { try ledger.entry($0, turn) == nil }))
        proof.compare()
        return turn.monotonic
    }

    /// Accepts the answer to such a question; returns false for any other answer.
    func receive(expected answer: PullAnswer, _ turn: Turn) throws -> Bool {
        guard let question = proof.question, question == answer.pull.id else { return false }
        proof.question = nil
        guard case .pages(let pages) = answer.result else {
            proof.notBefore = turn.monotonic + Self.patience
            return true
        }
        guard let gap = proof.gaps.last else {
            let rows = try types(pages)
            proof.reported(rows)
            try expectDocuments(rows, turn)
            return true
        }
        let slices: [SlicePage] = try pages.map { try $0.page(from: samples.producer) }
        proof.expect(Set(slices.flatMap { found(in: $0.samples, gap) }))
        proof.gaps[proof.gaps.count - 1].place = slices.last?.continue
        if slices.last?.continue == nil { proof.gaps.removeLast() }
        return true
    }

    func types(_ pages: [Value]) throws -> [TypeRow] {
        try pages.flatMap { try $0.page(TypesPage.self, from: samples.producer).types }
    }

    /// Whether the observer shows that it has or had samples of a file's type. If not, as for a type that is denied, a
    /// file can't be judged: nothing shows that it should be empty.
    func shows(_ span: FileSpan, _ rows: [TypeRow]) -> Bool {
        rows.contains { $0.user == span.user && span.content == .samples(type: $0.type) }
    }

    private func found(in page: SamplePage, _ gap: FilesProof.Gap) -> Set<String> {
        var paths: Set<String> = []
        var instants = Int64.max..<Int64.max
        let range = gap.from.microseconds..<gap.to.microseconds
        for start in page.start where !instants.contains(start) && range.contains(start) {
            guard SampleTimes.mayStart(Instant(microseconds: start)) else { continue }
            let span = layout.samples(gap.type, of: gap.user, at: Instant(microseconds: start))
            let whole = span.period.instants
            instants = whole.lowerBound.microseconds..<whole.upperBound.microseconds
            paths.insert(span.path)
        }
        return paths
    }

    /// The times between the files of a type in which it might have samples.
    private func gaps(_ row: TypeRow, _ turn: Turn) throws -> [FilesProof.Gap] {
        guard row.alive > 0, layout.types.takes(row.type), let first = row.firstStart, let last = row.lastStart else {
            return []
        }
        var gaps: [FilesProof.Gap] = []
        var next = FilePeriod(layout.period, at: first).instants.lowerBound
        let end = FilePeriod(layout.period, at: last).instants.upperBound
        func add(until time: Instant) {
            if next < min(time, end) {
                gaps.append(.init(user: row.user, type: row.type, from: next, to: min(time, end)))
            }
        }
        let folder = layout.samples(row.type, of: row.user, at: first).folder
        var path = folder
        while true {
            let page = try ledger.page(after: path, limit: 1000, turn)
            for entry in page {
                guard entry.path.hasPrefix(folder) else { break }
                guard let span = FileSpan(path: entry.path), layout.has(span), span.content == .samples(type: row.type)
                else { continue }
                add(until: span.period.instants.lowerBound)
                next = max(next, span.period.instants.upperBound)
            }
            guard let last = page.last, last.path.hasPrefix(folder) else { break }
            path = last.path
        }
        add(until: end)
        return gaps
    }

    /// The years that may have days, nights or workouts are few, so each of their files is compared.
    private func expectDocuments(_ rows: [TypeRow], _ turn: Turn) throws {
        var lists: [FileSpan.Content] = consolidator == nil ? [] : [.days]
        if documents.contains(where: { $0.producer != consolidator }) { lists += [.nights, .workouts] }
        for (user, rows) in Dictionary(grouping: rows, by: \.user) {
            guard let first = rows.compactMap(\.firstStart).min(), let last = rows.compactMap(\.lastEnd).max() else {
                continue
            }
            let near = Duration.seconds(Self.movement * 86_400)
            var year = FilePeriod(.year, at: first - near)
            let end = FilePeriod(.year, at: last + near)
            var paths: Set<String> = []
            while year.first <= end.first {
                if (1800...2300).contains(year.first.year) {
                    paths.formUnion(lists.map { layout.documents($0, of: user, in: year).path })
                }
                year = FilePeriod(.year, of: year.next)
            }
            proof.expect(try paths.filter { try ledger.entry($0, turn) == nil }, areGuesses: true)
        }
    }
}
