import Changelog
import HealthModel
import SQLite
import StageKit

/// Files to be written, in memory and in the stage's file: a mark is removed only when its file is on disk.
struct FileMarks {
    struct Mark: Equatable {
        /// Rises each time the file is marked; a file that was written for an older generation is written again.
        var generation: Int64
        /// By producer: everything up to this position was consumed before the file was first marked. Empty if the mark
        /// holds up no producer.
        var since: [String: SequenceNumber]
        /// When it was last and first marked.
        var last: MonotonicTime
        var first: MonotonicTime
        /// The file isn't written before this time, unless it has waited too long.
        var notBefore: MonotonicTime
    }

    private(set) var marks: [String: Mark] = [:]
    /// The lowest `since` by producer; nil when it must be computed again.
    private var oldest: [String: SequenceNumber]? = [:]
    /// The next path is at the end. Built from `marks` when it has run out or is too old.
    private var queue: [String] = []
    private var isQueueOld = true
    private var queuedAt = MonotonicTime.distantPast
    /// No file is due before this time.
    private var nothingBefore = MonotonicTime.distantPast
    /// A file is written once nothing in it has changed for this long.
    let settle: Duration

    init(settle: Duration) { self.settle = settle }

    /// After being marked for this long, a file is written even if it keeps changing.
    static let longestWait = Duration.seconds(60)
    /// An older queue is rebuilt, so that the newest comes first.
    static let requeueAfter = Duration.seconds(5)

    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS dirty_files(path TEXT PRIMARY KEY, generation INTEGER NOT NULL, since TEXT NOT NULL)
            WITHOUT ROWID;
            """)
    }

    mutating func open(_ turn: Turn) throws {
        try turn.database.prepare("SELECT path, generation, since FROM dirty_files").forEachRow { row in
            let since = try Value(json: row.bytes(2)).object ?? [:]
            marks[row.string(0)] = Mark(
                generation: row.int64(1), since: since.compactMapValues { $0.int.map { SequenceNumber($0) } },
                last: .distantPast, first: .distantPast, notBefore: .distantPast)
        }
        oldest = nil
        isQueueOld = true
    }

    var count: Int { marks.count }

    /// - Parameters:
    ///   - since: the producer, and the position up to which its changes had been consumed before this one; nil if the
    ///     mark holds nothing up.
    ///   - settles: whether it may go on changing. If not, it is due now.
    ///   - notBefore: evaluated only if the file isn't marked yet.
    mutating func mark(
        _ path: String, since: (producer: String, sequence: SequenceNumber)?, settles: Bool = true, _ turn: Turn,
        notBefore: () throws -> MonotonicTime = { .distantPast }
    ) throws {
        let now = turn.monotonic
        var mark: Mark
        if let known = marks[path] {
            mark = known
        } else {
            mark = Mark(generation: 0, since: [:], last: now, first: now, notBefore: try notBefore())
            isQueueOld = true
        }
        mark.generation += 1
        mark.last = settles ? now : .distantPast
        if let since {
            mark.since[since.producer] = min(mark.since[since.producer] ?? .end, since.sequence)
            if let known = oldest { oldest?[since.producer] = min(known[since.producer] ?? .end, since.sequence) }
        }
        marks[path] = mark
        nothingBefore = min(nothingBefore, due(mark))
        try turn.write().database.prepare("INSERT OR REPLACE INTO dirty_files VALUES (?, ?, ?)")
            .with(path, mark.generation, Value.object(mark.since.mapValues { .integer($0.value) }).json()).run()
    }

    /// Removes a mark unless the file was marked again since `generation`.
    mutating func clear(_ path: String, generation: Int64, _ turn: Turn) throws {
        guard let mark = marks[path], mark.generation == generation else { return requeue() }
        marks[path] = nil
        if mark.since.contains(where: { oldest?[$0.key] == $0.value }) { oldest = nil }
        try turn.write().database.prepare("DELETE FROM dirty_files WHERE path = ?").with(path).run()
    }

    /// The position up to which a producer's changes are on disk; nil: everything consumed is on disk.
    mutating func oldestMark(of producer: String) -> SequenceNumber? {
        if oldest == nil {
            oldest = marks.values.reduce(into: [:]) { $0.merge($1.since) { min($0, $1) } }
        }
        return oldest?[producer]
    }
}

extension FileMarks {
    private func due(_ mark: Mark) -> MonotonicTime {
        min(max(mark.last + settle, mark.notBefore), mark.first + max(settle, Self.longestWait))
    }

    /// Files that were taken but not written are taken again.
    mutating func requeue() {
        isQueueOld = true
        queuedAt = .distantPast
        nothingBefore = .distantPast
    }

    /// Makes every file that is marked so far due now, because a sync is waiting for it.
    mutating func hurry() {
        for path in marks.keys {
            marks[path]?.last = .distantPast
            marks[path]?.notBefore = .distantPast
        }
        requeue()
    }

    /// A file that can't be written is tried again later.
    mutating func postpone(_ path: String, until time: MonotonicTime) {
        marks[path]?.first = time
        marks[path]?.notBefore = time
        requeue()
    }

    /// The file to write next, newest first; nil when none is due, with the time at which one will be.
    /// - Parameter busy: files that are being written.
    mutating func next(
        at now: MonotonicTime, besides busy: Set<String>
    ) -> (path: String?, wait: MonotonicTime?) {
        guard !marks.isEmpty else { return (nil, nil) }
        guard now >= nothingBefore else { return (nil, nothingBefore) }
        if queue.isEmpty || (isQueueOld && now - queuedAt >= Self.requeueAfter) {
            queue = marks.keys.map { (Self.rank($0), $0) }.sorted { $0 < $1 }.map(\.1)
            isQueueOld = false
            queuedAt = now
        }
        var wait: MonotonicTime?
        var later: [String] = []
        defer { queue += later.reversed() }
        while let path = queue.popLast() {
            guard let mark = marks[path] else { continue }
            if busy.contains(path) {
                later.append(path)
                continue
            }
            let due = due(mark)
            if due <= now { return (path, nil) }
            wait = min(wait ?? due, due)
            later.append(path)
        }
        // Marks added since the queue was built are considered when it is rebuilt.
        let next = isQueueOld ? min(wait ?? .distantFuture, queuedAt + Self.requeueAfter) : wait
        if busy.isEmpty { nothingBefore = next ?? .distantPast }
        return (nil, next)
    }

    /// The file ranked highest is written first: days, nights and workouts, then the newest samples.
    private static func rank(_ path: String) -> String {
        guard let equals = path.lastIndex(of: "="), let slash = path.lastIndex(of: "/") else { return path }
        return (path.contains("/samples/") ? "0" : "1") + path[path.index(after: equals)...] + path[..<slash]
    }
}
