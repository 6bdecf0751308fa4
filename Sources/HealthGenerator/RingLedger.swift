/// Each day's ring totals, computed from the written records as a watch would: energy from the watch (from the phone
/// when no watch was recording), exercise minutes, and the hours in which the person stood.
final class RingLedger {
    /// The part of the rings that a stream adds to.
    enum Part: Sendable { case watchEnergy, phoneEnergy, exercise, stand }

    struct Rings {
        /// Kilocalories.
        var energy = 0.0
        var minutes = 0.0
        var hours = 0
    }

    private struct Stretch {
        let start: Int64
        let end: Int64
        let value: Double
        /// How many of its seconds a watch recorded too.
        var covered: Int64 = 0
    }

    private let plans: [DayPlan]
    private var rings: [Rings]
    private var phone: [[Stretch]]
    /// The day whose records are being written.
    var day = 0

    init(_ plans: [DayPlan]) {
        self.plans = plans
        rings = Array(repeating: Rings(), count: plans.count)
        phone = Array(repeating: [], count: plans.count)
    }

    /// Counts a record; the phone's must come before the watch's.
    func record(_ part: Part, _ start: Int64, _ end: Int64, _ value: Double) {
        switch part {
        case .phoneEnergy: phone[day].append(Stretch(start: start, end: end, value: value))
        case .watchEnergy:
            share(start, end, value, day) { rings[$0].energy += $1 }
            for index in phone[day].indices {
                let stretch = phone[day][index]
                phone[day][index].covered += max(0, min(end, stretch.end) - max(start, stretch.start))
            }
        case .exercise: share(start, end, value, day) { rings[$0].minutes += $1 }
        case .stand: rings[day].hours += 1
        }
    }

    /// The rings of all days, in order.
    func close() -> [Rings] {
        for (day, stretches) in phone.enumerated() {
            for stretch in stretches {
                let length = Double(max(1, stretch.end - stretch.start))
                let left = stretch.value * (length - Double(stretch.covered)) / length
                share(stretch.start, stretch.end, left, day) { rings[$0].energy += $1 }
            }
        }
        phone = []
        return rings
    }

    /// Divides anything that spans midnight between the two days, in proportion to time.
    private func share(_ start: Int64, _ end: Int64, _ value: Double, _ day: Int, _ add: (Int, Double) -> Void) {
        let midnight = plans[day].dayEnd
        guard end > midnight else { return add(day, value) }
        let before = value * Double(max(0, midnight - start)) / Double(max(1, end - start))
        add(day, before)
        if day + 1 < plans.count { add(day + 1, value - before) }
    }
}
