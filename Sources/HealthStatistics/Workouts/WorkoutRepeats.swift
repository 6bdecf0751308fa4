import HealthModel

/// Workouts that one source wrote several times, with the same start (to the second) and activity.
package enum WorkoutRepeats {
    /// One of several entries that may be the same workout.
    struct Candidate {
        var key: Key
        /// When HealthKit stored the entry, in seconds since 1970; 0 if unknown.
        var created: Int64
        var start: Instant
        var end: Instant
        var payload: [UInt8]
        var metadata: [UInt8]
        var id: SampleID

        /// The workout that HealthKit stored later is newer; if both were stored at the same time, it is the one that
        /// ends later, then the one that starts later. Remaining ties are decided by content, so that neither the order
        /// in which workouts arrive nor anybody's name makes a difference. The id only chooses between equal ones.
        static func isNewer(_ a: Candidate, than b: Candidate) -> Bool {
            let (first, second) = ((a.created, a.end, a.start), (b.created, b.end, b.start))
            if first != second { return first > second }
            if a.payload != b.payload { return b.payload.lexicographicallyPrecedes(a.payload) }
            if a.metadata != b.metadata { return b.metadata.lexicographicallyPrecedes(a.metadata) }
            return a.id > b.id
        }

        /// The order in which a day lists its workouts: by start, then end, then creation, then content.
        static func precedes(_ a: Candidate, _ b: Candidate) -> Bool {
            let (first, second) = ((a.start, a.end, a.created), (b.start, b.end, b.created))
            if first != second { return first < second }
            let (one, other) = ((a.key.activity, a.key.source), (b.key.activity, b.key.source))
            return one == other ? isNewer(b, than: a) : one < other
        }
    }

    struct Key: Hashable {
        var source: String
        var second: Int64
        var activity: String
    }

    /// For each candidate, the index of the newest version of the same workout, which may be its own index.
    static func newest(of candidates: [Candidate]) -> [Int] {
        var newest: [Key: Int] = [:]
        for (index, candidate) in candidates.enumerated() {
            if let best = newest[candidate.key], !Candidate.isNewer(candidate, than: candidates[best]) { continue }
            newest[candidate.key] = index
        }
        return candidates.enumerated().map { newest[$1.key] ?? $0 }
    }
}

extension WorkoutRepeats {
    /// Counts the workouts in any number of pages in canonical order. It keeps the rows of one second, and counts by
    /// source and day.
    package struct Tally {
        package struct Count: Sendable, Equatable {
            package var workouts: Int
            package var distinct: Int

            package init(workouts: Int = 0, distinct: Int = 0) { (self.workouts, self.distinct) = (workouts, distinct) }
        }

        /// For all workouts.
        package private(set) var all = Count()
        /// The counts for the sources that wrote a workout several times.
        package private(set) var bySource: [String: Count] = [:]
        /// The counts for the days with such a workout, including only those workouts.
        package private(set) var byDay: [LocalDay: Count] = [:]

        /// One workout with several ends, which may be versions of a workout that was edited.
        package struct Versions: Sendable, Equatable {
            package var day: LocalDay
            package var source: String
            package var activity: String
            package var start: Instant
            package var ends: [Instant]
        }
        /// The repeated workouts whose ends differ, in order of their starts.
        package private(set) var versions: [Versions] = []

        private let day: (Instant) -> LocalDay?
        private var held: [(source: String, id: String, end: Instant, payload: [UInt8])] = []
        private var second: Int64 = .min
        private var start = Instant.distantPast

        /// - Parameter day: returns the day for which a workout with this start counts; nil if that day wasn't
        ///   requested.
        package init(day: @escaping (Instant) -> LocalDay?) { self.day = day }

        /// - Throws: `WorkoutError` for a payload that isn't JSON.
        package mutating func add(_ page: SamplePage) throws {
            guard let type = page.types.firstIndex(of: HealthType.workoutIdentifier) else { return }
            for row in page.ids.indices where page.type[row] == Int32(type) && page.counts(row) {
                let begin = page.startOf(row)
                if begin.flooredSecond != second {
                    try finish()
                    (second, start) = (begin.flooredSecond, begin)
                }
                let payload = row < page.payload.count ? Array(page.payload.bytes[page.payload.range(row)]) : []
                held.append((page.originOf(row).sourceName, page.ids[row].description, page.endOf(row), payload))
            }
        }

        /// Counts the rows that are still held; call it after the last page.
        package mutating func finish() throws {
            defer { held.removeAll(keepingCapacity: true) }
            guard !held.isEmpty, let day = day(start) else { return }
            guard held.count > 1 else {
                all.workouts += 1
                all.distinct += 1
                return
            }
            var ends: [[String]: [Instant]] = [:]
            for (source, id, end, payload) in held {
                ends[[source, try Workout.activity(payload, of: id).identifier], default: []].append(end)
            }
            for (key, ends) in ends.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                let count = ends.count
                if Set(ends).count > 1 {
                    versions.append(
                        Versions(
                            day: day, source: key[0], activity: WorkoutActivity(named: key[1]).name, start: start,
                            ends: Set(ends).sorted()))
                }
                all.workouts += count
                all.distinct += 1
                guard count > 1 else { continue }
                bySource[key[0], default: Count()].workouts += count
                bySource[key[0], default: Count()].distinct += 1
                byDay[day, default: Count()].workouts += count
                byDay[day, default: Count()].distinct += 1
            }
        }
    }
}
