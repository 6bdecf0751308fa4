import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

/// What the uploader remembers in addition to its anchors: which backend it delivered to, when it last delivered each
/// metric, the dead letters, and the conflicts.
struct DeliveryLedger {
    private var metrics: [String: DeliveryTables.Metric] = [:]
    /// The backend that deliveries go to.
    private(set) var backend = KnownBackend()
    private(set) var proof = ProofRecord()
    private(set) var created: Int64 = 0
    private(set) var updated: Int64 = 0
    private(set) var known: Int64 = 0
    private(set) var deadLetters: Int64 = 0
    /// Whether there were dead letters when that was last reported; nil before the first turn.
    private var hasReportedLetters: Bool?
    /// How many dead letters a person has dropped.
    private(set) var droppedLetters: Int64 = 0
    /// How many elements are remembered as dropped.
    private var droppedElements: Int64 = 0
    /// How many conflicts are listed: at most `DeliveryConflict.limit`.
    var conflicts: Int64 = 0
    /// The number of samples that stay here because they are too old to be delivered.
    private(set) var keptLocal: Int64 = 0
    /// Those up to this sequence number are counted, and aren't counted again when they are read again.
    private(set) var keptThrough = SequenceNumber.beginning
    private(set) var lastChecked: Instant?
    private var delays: [String: DelayHistogram] = [:]
    private var buckets: [String: DelayBuckets] = [:]

    mutating func open(_ turn: Turn) throws {
        metrics = try DeliveryTables.metrics(in: turn.database)
        try DeliveryTables.delays.forEach(in: turn.database) { delays[$0] = DelayHistogram(wireValue: $1) }
        if let kept = try read("known", turn) {
            backend = try Value(json: kept.utf8).decode()
        } else {
            // Files from earlier releases have only the generation.
            backend.generation = try read("generation", turn)
        }
        if let kept = try read("proof", turn) { proof = try Value(json: kept.utf8).decode() }
        droppedLetters = try DeliveryTables.droppedLetters(in: turn.database)
        keptLocal = try read("keptLocal", turn).flatMap { Int64($0) } ?? 0
        keptThrough = SequenceNumber(try read("keptThrough", turn).flatMap { Int64($0) } ?? 0)
        try count(turn)
        conflicts = try DeliveryConflict.count(in: turn.database)
    }

    private func read(_ key: String, _ turn: Turn) throws -> String? {
        try turn.database.prepare("SELECT value FROM backend WHERE key = ?").with(key).firstRow { $0.string(0) }
    }

    private func write(_ key: String, _ value: some CustomStringConvertible, _ turn: Turn) throws {
        try turn.write().database.prepare("INSERT OR REPLACE INTO backend VALUES (?, ?)")
            .with(key, value.description).run()
    }

    /// The last chunk of a historical sync that was delivered again.
    func lastReplay(_ turn: Turn) throws -> String? { try read("replay", turn) }

    func noteReplay(_ id: String, _ turn: Turn) throws { try write("replay", id, turn) }

    private mutating func count(_ turn: Turn) throws {
        deadLetters = try DeadLetter.count(in: turn.database)
        droppedElements = try DroppedElement.count(in: turn.database)
    }

    /// Returns whether there are dead letters, unless that was reported already.
    mutating func reportLetters() -> Bool? {
        let hasLetters = deadLetters > 0
        defer { hasReportedLetters = hasLetters }
        return hasLetters == hasReportedLetters ? nil : hasLetters
    }

    mutating func checked(at now: Instant) { lastChecked = now }

    /// Whether anything was ever delivered.
    var hasDelivered: Bool { metrics.values.contains { $0.count > 0 } }

    /// - Parameter counts: must have been shown to add up to no more than was sent.
    mutating func delivered(
        _ count: Int, metric: DeliveryMetric, _ counts: DeliveryAnswer.Counts?, _ turn: Turn
    ) throws {
        created += counts?.created ?? 0
        updated += counts?.updated ?? 0
        known += counts?.known ?? 0
        try DeliveryTables.delivered(Int64(count), metric.rawValue, in: &metrics, turn)
    }

    /// Counts the time from the end of the delivered samples until now.
    /// - Parameter recent: the end times within `DelayHistogram.horizon`.
    mutating func delayed(_ recent: [Instant], metric: DeliveryMetric, _ turn: Turn) throws {
        guard !recent.isEmpty else { return }
        var histogram = delays[metric.rawValue] ?? DelayHistogram()
        for end in recent {
            histogram.add(end: end, acceptedAt: turn.now)
            buckets[metric.rawValue, default: DelayBuckets()].add(end: end, acceptedAt: turn.now)
        }
        histogram.fade()
        delays[metric.rawValue] = histogram
        try DeliveryTables.delays.set(metric.rawValue, to: histogram.wireValue, turn)
    }

    /// Makes a dead letter of an element that the backend won't accept, with the reason. If it is one already, that
    /// letter gets the newer version and reason, and one more try; an older version, late, changes nothing.
    mutating func addDeadLetters(
        id: String, version: Int64, metric: DeliveryMetric, user: String, reason: String, status: Int?, _ turn: Turn
    ) throws {
        turn.log(.deadletterAdded, ["metric": metric.rawValue, "id": id, "why": reason])
        let write = try turn.write().database.prepare(
            """
            INSERT INTO dead_letters(at, last, user, metric, id, version, reason, status, tries)
            VALUES (?1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, 1)
            ON CONFLICT (user, metric, id) DO UPDATE
            SET last = ?1, version = ?5, reason = ?6, status = ?7, tries = tries + 1 WHERE version <= ?5
            """)
        try write.with(turn.now.microseconds, user, metric.rawValue, id, version, reason, status).run()
        // Whether it had been dropped or not, the element has been sent and refused again.
        try DeliveryTables.remove([(id, version)], from: DroppedElement.table, metric, user: user, turn)
        try count(turn)
    }

    /// The backend has accepted these elements, so they are no longer dead letters or dropped, in this version or an
    /// older one.
    mutating func takeOutDeadLetters(
        _ elements: some Sequence<(id: String, version: Int64)>, metric: DeliveryMetric, user: String, _ turn: Turn
    ) throws {
        if droppedElements > 0 {
            try DeliveryTables.remove(elements, from: DroppedElement.table, metric, user: user, turn)
            droppedElements = try DroppedElement.count(in: turn.database)
        }
        guard deadLetters > 0 else { return }
        deadLetters -= try DeliveryTables.remove(elements, from: "dead_letters", metric, user: user, turn)
    }

    /// Deletes dead letters, except those that have a newer version by now.
    /// - Parameter isDropped: whether a person dropped them; if so, that is counted and remembered.
    mutating func forget(_ letters: [DeadLetter], isDropped: Bool, _ turn: Turn) throws {
        let database = try turn.write().database
        let delete = try database.prepare("DELETE FROM dead_letters WHERE number = ? AND version = ?")
        for letter in letters {
            try delete.with(letter.number, letter.version).run()
            if isDropped { try DroppedElement.add(letter, in: database) }
        }
        if isDropped {
            droppedLetters += Int64(letters.count)
            try write("droppedLetters", droppedLetters, turn)
        }
        try count(turn)
    }

    /// Forgets what was delivered, and to which backend.
    mutating func reset(_ turn: Turn) throws {
        for table in ["deliveries", "delays", "dead_letters", "dropped_letters", "conflicts", "proofs"] {
            try turn.write().database.execute("DELETE FROM \(table)")
        }
        try turn.write().database.execute("DELETE FROM backend WHERE key NOT IN ('droppedLetters', 'types')")
        let (dropped, reported) = (droppedLetters, hasReportedLetters)
        self = DeliveryLedger()
        (droppedLetters, hasReportedLetters) = (dropped, reported)
    }

    /// Stores what is known about the backend, if that has changed.
    mutating func note(_ turn: Turn, _ change: (inout KnownBackend) -> Void) throws {
        try store(\.backend, "known", turn, change)
    }

    /// Stores what is known from comparing element by element, if that has changed.
    mutating func noteProof(_ turn: Turn, _ change: (inout ProofRecord) -> Void) throws {
        try store(\.proof, "proof", turn, change)
    }

    private mutating func store<Kept: Encodable & Equatable>(
        _ path: WritableKeyPath<Self, Kept>, _ key: String, _ turn: Turn, _ change: (inout Kept) -> Void
    ) throws {
        var changed = self[keyPath: path]
        change(&changed)
        guard changed != self[keyPath: path] else { return }
        self[keyPath: path] = changed
        try write(key, Value(changed).json(), turn)
    }

    /// Forgets what was delivered: the destination is another one, which has accepted nothing yet.
    mutating func forgetDelivered(_ turn: Turn) throws {
        metrics = [:]
        try turn.write().database.execute("DELETE FROM deliveries")
    }

    /// Counts samples that stay here because they are too old to be delivered.
    mutating func keeps(older count: Int64, _ turn: Turn) throws {
        guard count > 0 else { return }
        keptLocal += count
        try write("keptLocal", keptLocal, turn)
    }

    /// Samples up to this sequence number will be read again, although they have been counted.
    mutating func readsAgain(through sequence: SequenceNumber, _ turn: Turn) throws {
        guard sequence > keptThrough else { return }
        keptThrough = sequence
        try write("keptThrough", sequence.value, turn)
    }

    /// Resets the count, because everything will be read again from the beginning.
    mutating func beginsAgain(_ turn: Turn) throws {
        if keptLocal > 0 { try write("keptLocal", 0, turn) }
        if keptThrough > .beginning { try write("keptThrough", 0, turn) }
        (keptLocal, keptThrough) = (0, .beginning)
    }

    /// Stores which selection is delivered to this destination; returns true if it has changed. For files from earlier
    /// releases, everything was selected.
    func notes(_ selection: String, _ turn: Turn) throws -> Bool {
        guard try read("types", turn) ?? "" != selection else { return false }
        try write("types", selection, turn)
        return true
    }

    // What the heartbeat reports about the ledger.
    var delivered: [String: Int64] { metrics.mapValues(\.count) }
    var lastDelivered: [String: Instant] { metrics.mapValues(\.last) }
    var delaySummaries: [String: UploaderDetails.Delay] { delays.mapValues(\.summary) }
    var delayBuckets: UploaderDetails.DelayBuckets {
        UploaderDetails.DelayBuckets(
            bounds: DelayBuckets.bounds, metrics: buckets.mapValues { .init(counts: $0.counts, sum: $0.sum) })
    }
}
