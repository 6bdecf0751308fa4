import HealthModel
import JSON
import PostgreSQL
import PostgresStore
import Protocol

extension PostgresStorage {
    func write(_ envelope: SyncEnvelope, metric: SyncMetric, now: Instant) throws -> (SyncOutcome, BackendState) {
        var outcome = SyncOutcome()
        let elements = try PostgresElements(envelope, metric: metric, &outcome)
        let user = try Self.user(envelope.user)
        let places = elements.places
        let put = try put(elements.batch(user: user), namesElements: true)
        // A night may have the same id as a sample; in that case each is reported once.
        var created = Self.numbers(of: put.createdIDs)
        var updated = Self.numbers(of: put.updatedIDs)
        var known: [PostgresElements.Place] = []
        for (number, place) in places.enumerated() {
            if let reason = put.refused[number] {
                outcome.refuse(place.id, place.list, index: place.index, reason)
            } else if created.take(place.key) {
                outcome.add(.created, place.id)
            } else if updated.take(place.key) {
                outcome.add(.updated, place.id)
            } else {
                known.append(place)
            }
        }
        let held = try held(known, user: user)
        var conflicts = Self.numbers(of: put.conflicts)
        for (place, version) in zip(known, held) {
            let isConflict = version == place.version && !place.list.deletes && conflicts.take(place.key)
            outcome.add(
                isConflict ? .conflict : .known, place.id, heldVersion: version == place.version ? nil : version)
        }
        try note(outcome)
        return (outcome, BackendState(put.identity))
    }

    func write(_ delivery: SampleDelivery, now: Instant) throws -> (SyncOutcome, BackendState) {
        var outcome = SyncOutcome(listsIDs: false)
        let user = try Self.user(delivery.user)
        let rows = Self.rows(of: delivery.samples, &outcome)
        let page = rows.count == delivery.samples.count ? delivery.samples : delivery.samples.select(rows)
        let deletions = zip(delivery.deleted, delivery.deletedVersions).map {
            PostgresBatch.Deletion(id: $0, version: $1)
        }
        let put = try put(
            PostgresBatch(user: user, samples: page, deletions: deletions), namesElements: false)
        outcome.count(.created, Int(put.created))
        outcome.count(.updated, Int(put.updated))
        let conflicts = put.conflicts.compactMap { SampleID($0) }
        outcome.count(.known, Int(put.known) - conflicts.count)
        for id in conflicts { outcome.addConflict(id) }
        for (number, reason) in put.refused.sorted(by: { $0.key < $1.key }) {
            if number < rows.count {
                outcome.refuse(page.ids[number], .samples, index: rows[number], reason)
            } else {
                outcome.refuse(deletions[number - rows.count].id, .deleted, index: number - rows.count, reason)
            }
        }
        try note(outcome)
        return (outcome, BackendState(put.identity))
    }

    /// The rows that can be stored.
    private static func rows(of page: SamplePage, _ outcome: inout SyncOutcome) -> [Int] {
        let columns = SampleColumns(page)
        return page.metadata.bytes.withUnsafeBytes { metadata in
            page.payload.bytes.withUnsafeBytes { payload in
                (0..<page.count).filter { row in
                    guard
                        let problem = columns.problem(
                            row, metadata: metadata, payload: payload, isKnown: { _ in false })
                    else { return true }
                    outcome.refuse(page.ids[row], .samples, index: row, problem)
                    return false
                }
            }
        }
    }

    private func put(_ batch: PostgresBatch, namesElements: Bool) throws -> PostgresOutcome {
        try connected { store, _ in
            do {
                return try store.put(batch, seen: nil, namesElements: namesElements)
            } catch let error as PostgresError where error.isOfData {
                // Only the sender can find out which value is at fault, so nothing in the request is stored.
                throw SyncRefusal.malformed("the body has a value that the database can't store")
            }
        }
    }

    private static func user(_ name: String?) throws -> String {
        let name = name ?? unnamed
        guard !name.utf8.contains(0) else { throw SyncRefusal.malformed("userId contains the character NUL") }
        return name
    }

    /// The owner of elements that name no user.
    static let unnamed = "me"

    private static func numbers(of ids: [String]) -> [String: Int] { ids.reduce(into: [:]) { $0[$1, default: 0] += 1 } }

    /// The versions stored, in the order of the elements; nil for those not stored under their own id.
    private func held(_ places: [PostgresElements.Place], user: String) throws -> [Int64?] {
        var versions: [String: Int64] = [:]
        for kind in DocumentKind.allCases.map({ Optional($0) }) + [nil] {
            let keys = places.filter { $0.kind == kind }.map(\.key)
            guard !keys.isEmpty else { continue }
            let list = "ARRAY(SELECT jsonb_array_elements_text($2::jsonb)\(kind == nil ? "::uuid" : ""))"
            let statement =
                kind.map {
                    "SELECT id, version FROM \(table("documents")) WHERE kind = '\($0.stored.rawValue)' AND "
                } ?? "SELECT id, version FROM \(table("samples")) WHERE "
            let found = try connected { _, questions in
                try questions.execute(
                    statement + "user_id = $1 AND id = ANY(\(list))",
                    [user, Value.array(keys.map { .string($0) }).json()])
            }
            for row in 0..<found.count {
                if let id = found.text(row, 0) {
                    versions["\(kind.map { "\($0)" } ?? "") \(id)"] = found.integer(row, 1)
                }
            }
        }
        return places.map { place in versions["\(place.kind.map { "\($0)" } ?? "") \(place.key)"] }
    }

    /// Counts outcomes that leave no trace in the rows.
    private func note(_ outcome: SyncOutcome) throws {
        guard outcome.known + outcome.refused > 0 else { return }
        try connected { _, questions in
            _ = try questions.execute(
                """
                INSERT INTO \(table("answered")) AS held (known, refused) VALUES ($1, $2) ON CONFLICT (only_row) DO UPDATE
                    SET known = held.known + excluded.known, refused = held.refused + excluded.refused
                """,
                ["\(outcome.known)", "\(outcome.refused)"])
        }
    }
}

extension PostgresError {
    /// Classes 22 and 54: a value that the database can't represent, or that is too large.
    fileprivate var isOfData: Bool { state.map { $0.hasPrefix("22") || $0.hasPrefix("54") } ?? false }
}

extension [String: Int] {
    /// Decrements the key's count; returns false if it was zero.
    fileprivate mutating func take(_ key: String) -> Bool {
        guard let number = self[key], number > 0 else { return false }
        self[key] = number - 1
        return true
    }
}
