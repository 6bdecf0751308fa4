import HealthModel
import JSON
import SQLite

extension HealthStoreWriter {
    /// Merges the summary of a workout's route into the workout's payload, as `routeSummary`; if that changes the row,
    /// it gets a new version. If the workout is imported again without a summary, the existing summary is kept.
    ///
    /// The workout is found by its identity. If two workouts share that identity, the one whose payload names the path
    /// is used; if none has it, because its source was renamed, the one of that time whose payload names the path.
    /// - Parameters:
    ///   - path: as passed to `attachRoute`.
    ///   - summary: an object; it replaces the previous one.
    /// - Returns: whether the workout has changed; false if there is no such workout.
    @discardableResult
    package func describeRoute(
        path: String, workoutFrom start: Instant, to end: Instant, sourceName: String, summary: Value
    ) throws -> Bool {
        try change { user in
            guard let type = try types.existing(HealthType.workoutIdentifier) else { return false }
            let prefix = SampleKeyPrefix(
                user: self.user, type: HealthType.workoutIdentifier,
                sourceName: try names.known(of: user).key(sourceName))
            let second = start.flooredSecond
            var found: [(row: StoredRow, payload: [UInt8])] = []
            while let row = try rows.row(
                user: user, type: type, second: second,
                id: SampleID(prefix, startSecond: second, endSecond: end.flooredSecond, ordinal: found.count))
            {
                found.append((row, try rows.text(.payload, of: row, user: user)))
            }
            if found.isEmpty {
                for row in try rows.rows(type: type, startingIn: second...second, user: user)
                where row.endSecond == end.flooredSecond {
                    let payload = try rows.text(.payload, of: row, user: user)
                    if Self.routeName(of: payload) == Self.name(path) { found.append((row, payload)) }
                }
            }
            let named = found.filter { Self.routeName(of: $0.payload) == Self.name(path) }
            guard let (old, payload) = named.first ?? (found.count == 1 ? found.first : nil), old.state != .deleted
            else { return false }
            let member = Array(Value.object(["routeSummary": summary]).json().utf8)
            let replaced = payload.withUnsafeBytes { payload in
                member.withUnsafeBytes { JSONMembers.replacing(payload, with: $0) }
            }
            // In the form that a later import of the same workout would give it.
            let joined = replaced.withUnsafeBytes { PayloadJoin.joined($0, $0) }
            guard joined != payload else { return false }
            try rows.set(.payload, of: rewrite(old, user: user), joined)
            return true
        }
    }

    private static func routeName(of payload: [UInt8]) -> Substring? {
        // A payload that isn't JSON names no route.
        (try? Value(json: payload))?["route"].string.flatMap { name($0) }
    }

    /// Workouts and the archive use the same name for a route's file, except for the folders before it.
    private static func name(_ path: String) -> Substring? { path.split(separator: "/").last }
}
