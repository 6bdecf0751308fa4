import HealthModel
import Protocol

/// Which samples of its types a query wants; as with HealthKit's anchored queries, additions and deletions are filtered
/// alike. Pure.
struct SamplePredicate {
    /// The sample ends at or after this.
    private var from: Instant?
    /// The sample starts before this.
    private var to: Instant?
    /// Names of sources.
    private var sources: Set<String>?
    /// Short names of workout activities; other samples have none.
    private var activities: Set<String>?
    private var isEnteredByHand: Bool?

    /// nil when the request has no predicate.
    /// - Throws: `PullRefusal` for members that are unknown or invalid.
    init?(_ value: Value) throws {
        guard !value.isNull else { return nil }
        guard let members = value.object else { throw PullRefusal("a predicate must be a map") }
        func names(_ value: Value) throws -> Set<String> {
            guard let list = value.array, list.allSatisfy({ $0.string != nil }) else {
                throw PullRefusal("a predicate's sources and activities must be lists of names")
            }
            return Set(list.compactMap(\.string))
        }
        for (name, member) in members {
            switch (name, member) {
            case ("from", .integer(let time)): from = Instant(microseconds: time)
            case ("to", .integer(let time)): to = Instant(microseconds: time)
            case ("enteredByHand", .bool(let flag)): isEnteredByHand = flag
            case ("sources", _): sources = try names(member)
            case ("activities", _): activities = Set(try names(member).map { WorkoutActivity(named: $0).name })
            default:
                throw PullRefusal(
                    "a predicate has from and to (instants), sources, activities and enteredByHand, but no '\(name)'")
            }
        }
    }

    /// Whether the predicate can be evaluated only with the payloads of workouts. Among living samples it then chooses
    /// only workouts.
    var needsPayload: Bool { activities != nil }

    func filter(_ page: SamplePage) throws -> [Int] { try page.ids.indices.filter { try includes($0, of: page) } }

    private func includes(_ row: Int, of page: SamplePage) throws -> Bool {
        if let from, page.endOf(row) < from { return false }
        if let to, page.startOf(row) >= to { return false }
        if let sources, !sources.contains(page.originOf(row).sourceName) { return false }
        if let isEnteredByHand, page.flags[row].contains(.userEntered) != isEnteredByHand { return false }
        guard let activities else { return true }
        // A tombstone no longer has the activity, and whoever has the workout must learn that it is gone.
        if page.flags[row].contains(.deleted) { return true }
        guard page.typeName(row) == HealthType.workoutIdentifier, page.payload.count > row, !page.payload.isEmpty(row)
        else { return false }
        let activity = try Value(json: Array(page.payload.bytes[page.payload.range(row)]))["activity"].string
        return activity.map { activities.contains(WorkoutActivity(named: $0).name) } ?? false
    }
}
