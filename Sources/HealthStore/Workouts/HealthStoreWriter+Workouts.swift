import HealthModel
import JSON
import SQLite

// See `WorkoutVersions` for workouts that were edited.
extension HealthStoreWriter {
    /// Lets edited workouts replace their earlier versions, based on everything seen so far: earlier versions are
    /// deleted until something restores them, and the newest version's payload lists them in `replaces`. If a workout
    /// is no longer an earlier version, it is restored. Repeating it changes nothing.
    ///
    /// Call this after each file or request with workouts. Taking something back includes it.
    /// - Parameter export: when the latest imported export was made; nil unless it was read completely.
    /// - Returns: whether anything has changed.
    @discardableResult
    package func settleWorkouts(wholeExport export: Instant? = nil) throws -> Bool {
        try change { user in
            if let export { try sightings.confirm(exported: export.microseconds, user: user) }
            return try settleAll(user: user)
        }
    }

    @discardableResult
    func settleAll(user: Int) throws -> Bool {
        guard let type = try types.existing(HealthType.workoutIdentifier) else { return false }
        var isChanged = false
        for place in try sightings.crowdedPlaces(user: user) {
            isChanged = try settle(place, type: type, user: user) || isChanged
        }
        return isChanged
    }

    /// A workout missing from a complete export was deleted, not edited: it is treated like anything else that the
    /// export lacks.
    func forgetVersions(lackingIn export: Instant, user: Int) throws {
        guard try sightings.forgetReplaced(lastSeenBefore: export.microseconds, user: user) > 0 else { return }
        try pieces.forgetAll(user: user)
    }

    /// The same as above, for earlier versions that only these bringers have brought.
    func forgetVersions(broughtBy bringers: [Int], user: Int) throws {
        let since = try brought.since()
        for born in try sightings.replaced(user: user) where born > since {
            let notes = try brought.notes(at: BirthChunk.number(born), of: bringers)
            guard notes.theirs.contains(born), !notes.others.contains(born) else { continue }
            try sightings.forget(born: born, user: user)
            try pieces.forgetAll(user: user)
        }
    }

    /// Records the workouts that a session's batch has claimed.
    func noteWorkouts(_ batch: RecordBatch, _ session: ImportSession, user: Int) throws {
        guard let moment = session.moment, let type = batch.types.firstIndex(of: HealthType.workoutIdentifier) else {
            return
        }
        for row in batch.type.indices where batch.type[row] == Int32(type) {
            guard let stored = session.claimedRows[row] else { continue }
            try sightings.note(stored, place: place(of: stored), moment, user: user)
        }
        session.claimedRows.removeAll()
    }

    /// What all versions of a workout share: its source and start.
    func place(of row: StoredRow) throws -> SampleID {
        let prefix = SampleKeyPrefix(user: user, type: HealthType.workoutIdentifier, sourceName: try key(of: row))
        return SampleID(prefix, startSecond: row.second, endSecond: row.second, ordinal: -1)
    }

    /// A workout with a new key takes over the sighting recorded under its old key.
    func inheritSighting(_ old: StoredRow, to row: StoredRow, user: Int) throws {
        guard let seen = try sightings.workout(born: old.born.value, user: user) else { return }
        let place = try place(of: row)
        for moment in [seen.first, seen.last] {
            try sightings.note(row, place: place, .init(at: moment, isExport: false), user: user)
        }
        try sightings.forget(born: old.born.value, user: user)
    }

    private func settle(_ place: SampleID, type: Int, user: Int) throws -> Bool {
        var found: [StoredRow] = []
        var seen: [SeenWorkout] = []
        for var workout in try sightings.workouts(at: place, user: user) {
            guard let row = try rows.row(user: user, type: type, second: workout.second, id: workout.id),
                row.state == .alive || row.state == .absent && workout.isReplaced
            else { continue }
            // A payload that isn't JSON has no activity.
            let payload = try? Value(json: try rows.text(.payload, of: row, user: user))
            workout.activity = payload?["activity"].string ?? ""
            workout.hasUUID = row.uuid != nil
            found.append(row)
            seen.append(workout)
        }
        let next = WorkoutVersions.replacements(seen)
        var isChanged = false
        for (index, workout) in seen.enumerated() {
            let isReplaced = next[index] != nil
            if workout.isReplaced == isReplaced, (found[index].state == .absent) == isReplaced { continue }
            found[index] = try rewrite(found[index], user: user) { $0.state = isReplaced ? .absent : .alive }
            try sightings.mark(born: workout.born, isReplaced: isReplaced, user: user)
            isChanged = true
        }
        for index in seen.indices where next[index] == nil {
            let noted = try note(WorkoutVersions.earlier(of: index, seen, next), in: found[index], user: user)
            isChanged = noted || isChanged
        }
        return isChanged
    }

    /// Lists the earlier versions in the payload.
    private func note(_ earlier: Value, in old: StoredRow, user: Int) throws -> Bool {
        let payload = try rows.text(.payload, of: old, user: user)
        guard var members = try? Value(json: payload).object, members["replaces"] ?? .null != earlier else {
            return false
        }
        members["replaces"] = earlier.isNull ? nil : earlier
        let row = try rewrite(old, user: user)
        let whole = Array(Value.object(members).json().utf8)
        try rows.set(.payload, of: row, whole.withUnsafeBytes { JSONMembers.canonical($0) } ?? whole)
        return true
    }
}
