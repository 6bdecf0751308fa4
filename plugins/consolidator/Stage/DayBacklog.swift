/// Days that are over and waiting to be written, newest first. Pure.
///
/// Ten years of days in one transaction would hold up everyone who waits for the first of them. It is only a plan: what
/// is still to be done is recorded in the days' own states, so a crash loses nothing.
struct DayBacklog {
    /// Oldest first; may contain days that were dropped.
    private var order: [SummaryDays.Key] = []
    private var wanted: Set<SummaryDays.Key> = []

    var isEmpty: Bool { wanted.isEmpty }

    mutating func add(_ keys: some Sequence<SummaryDays.Key>) {
        let count = wanted.count
        wanted.formUnion(keys)
        guard wanted.count > count else { return }
        order = wanted.sorted { ($0.day, $0.user) < ($1.day, $1.user) }
    }

    mutating func drop(_ key: SummaryDays.Key) { wanted.remove(key) }

    mutating func dropAll() { (order, wanted) = ([], []) }

    /// Takes at most this many days.
    mutating func take(_ count: Int) -> [SummaryDays.Key] {
        var taken: [SummaryDays.Key] = []
        while taken.count < count, let key = order.popLast() {
            if wanted.remove(key) != nil { taken.append(key) }
        }
        return taken
    }
}
