import Changelog
import HealthModel
import MessageBus
import Protocol
import StageKit

/// Which files a change touches.
extension FilesStage {
    static let kept = ValueTable("files_kept")
    /// A document may have moved from a neighbouring day, by up to this many days.
    static let movement = 3
    /// The more rows a constantly changing file has, the longer it waits before it is written again: one second per
    /// this many rows.
    private static let rowsPerSecond: Int64 = 2000

    /// If the folder has changed, none of the files have been written there: the old ones are left where they are, and
    /// everything is read again for the new folder.
    func openFolder(_ turn: Turn) throws {
        guard try isNew(.string(folder ?? ""), "folder", turn) else { return }
        turn.log(.backendMoved)
        try ledger.reset(turn)
        for upstream in upstreams { try upstream.rewind(turn) }
    }

    /// If the figures have changed, so have the columns of days. If the layout has changed, every file of the old one
    /// is examined again, and everything is read again for the new one.
    func openLayout(_ turn: Turn) throws {
        let columns = Value.array(DocumentRows.days(figures).map { .string($0.name) })
        if try isNew(columns, "columns", turn) { try markAll(turn) { $0.content == .days } }
        guard try isNew(layout.kept, "layout", turn) else { return }
        try markAll(turn)
        for upstream in upstreams { try upstream.rewind(turn) }
    }

    /// Stores a value; returns true if it has changed.
    private func isNew(_ value: Value, _ key: String, _ turn: Turn) throws -> Bool {
        let before = try Self.kept.value(key, in: turn.database)
        guard before != value else { return false }
        try Self.kept.set(key, to: value, turn)
        return before != nil
    }

    /// Marks the files of a page of samples, tombstones included.
    func mark(_ page: SamplesPage, _ turn: Turn) throws {
        guard page.isOwned else { throw StageError.unreadablePage(producer: samples.producer) }
        let all = page.samples
        var touched: Set<FileSpan> = []
        // Neighbouring rows mostly belong to the same file.
        var (user, type) = (Int32(-1), Int32(-1))
        var instants: Range<Int64> = 0..<0
        for row in 0..<all.count {
            if page.user[row] == user, all.type[row] == type, instants.contains(all.start[row]) { continue }
            let name = all.typeName(row)
            guard layout.types.takes(name), SampleTimes.mayStart(all.startOf(row)) else { continue }
            (user, type) = (page.user[row], all.type[row])
            let span = layout.samples(name, of: page.users[Int(user)], at: all.startOf(row))
            let range = span.period.instants
            instants = range.lowerBound.microseconds..<range.upperBound.microseconds
            touched.insert(span)
        }
        let since = page.from.map { (samples.producer, $0) }
        for span in touched { try mark(span.path, since: since ?? (samples.producer, .beginning), turn) }
    }

    /// Marks the files of a keyed changelog's rows.
    func mark(_ page: ChangesPage, from upstream: Upstream, _ turn: Turn) throws {
        var touched: Set<FileSpan> = []
        for row in page.rows {
            guard let day = row.day else { continue }
            for near in [day - Self.movement, day + Self.movement] {
                let date = LocalDay(number: near)
                guard (1800...2300).contains(date.year) else { continue }
                let year = FilePeriod(.year, of: date)
                for list in row.lists {
                    touched.insert(layout.documents(DocumentCollection.content(of: list), of: row.user, in: year))
                }
            }
        }
        let since = page.from ?? .beginning
        for span in touched { try mark(span.path, since: (upstream.producer, since), turn) }
    }

    private func mark(_ path: String, since: (String, SequenceNumber), _ turn: Turn) throws {
        try marks.mark(path, since: since, turn) {
            guard let known = try ledger.entry(path, turn) else { return .distantPast }
            let pause = Duration.seconds(min(known.rows / Self.rowsPerSecond, 60))
            let age = Duration.microseconds(turn.now.microseconds - known.written.microseconds)
            // A clock that was set back proves nothing.
            return age < .zero ? .distantPast : turn.monotonic + max(.zero, pause - age)
        }
    }

    /// Marks all files of a producer that has started over: anything it doesn't report again is gone, so each file is
    /// examined.
    func markAll(of upstream: Upstream, _ turn: Turn) throws {
        dropJobs(turn)
        try markAll(turn, since: upstream.producer) { span in
            switch span.content {
            case .samples: upstream === samples
            case .days: upstream.producer == consolidator
            case .nights, .workouts: upstream !== samples && upstream.producer != consolidator
            }
        }
    }

    /// - Parameter producer: the producer whose changes count as consumed only once the files are written; nil for
    ///   none.
    /// - Returns: how many rows the files have.
    @discardableResult
    func markAll(
        _ turn: Turn, since producer: String? = nil, where isMeant: (FileSpan) -> Bool = { _ in true }
    ) throws -> Int64 {
        var last = ""
        var rows: Int64 = 0
        while true {
            let page = try ledger.page(after: last, limit: 1000, turn)
            guard let end = page.last else { return rows }
            last = end.path
            for entry in page {
                guard let span = FileSpan(path: entry.path), isMeant(span) else { continue }
                try marks.mark(entry.path, since: producer.map { ($0, .beginning) }, turn)
                rows += entry.rows
            }
        }
    }
}
