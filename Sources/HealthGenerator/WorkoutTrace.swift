import HealthModel

/// A workout, step by step: everything recorded during it agrees because it is taken from here.
///
/// The heart follows the effort: it warms up within minutes, lags behind a change of pace, drifts upwards within the
/// hour and recovers in a pause. The pace gives way to hills. There is no function here whose last digit differs by
/// machine.
struct WorkoutTrace {
    /// Seconds from one point to the next, as a watch measures during workouts.
    static let step: Int64 = 5

    let start: Int64
    let workout: DayPlan.Workout
    /// Beats per minute, whole as a watch shows them; one more point than steps, as below.
    private(set) var heart: [Double] = []
    /// What was covered, taken and burned (active kilocalories) from the start to each point.
    private(set) var meters: [Double] = [0]
    private(set) var steps: [Double] = [0]
    private(set) var kilocalories: [Double] = [0]
    /// Metres above the sea.
    private(set) var elevation: [Double] = []
    /// Metres.
    private(set) var ascent = 0.0

    init?(_ plan: DayPlan, _ person: Person) {
        guard let workout = plan.workout else { return nil }
        self.workout = workout
        start = workout.start
        var random = SeededRandom(seed: person.seed, subject: 1001, day: plan.day.number)
        let effect = Effect(workout.activity, person)
        let speed = effect.speed * random.uniform(0.95, 1.03) * (0.8 + 0.2 * workout.effort / effect.usualEffort)
        let count = Int((workout.end - workout.start) / Self.step)
        let hills = Hills(
            length: speed * Double(workout.end - workout.start - workout.pause), between: effect.metersBetweenHills,
            height: workout.isIndoor ? 0 : person.hills, &random)
        let reserve = person.maximumRate - plan.resting
        var rate = plan.resting + random.uniform(20, 32)
        var wander = 0.0
        reserveCapacity(count + 1)
        for index in 0...count {
            let second = Int64(index) * Self.step
            let isPaused = second >= workout.middle - start && second < workout.middle + workout.pause - start
            let (height, grade) = hills.at(meters[index])
            elevation.append(height)
            heart.append(min(person.maximumRate, rate + random.normal(0, 0.6)).rounded())
            guard index < count else { break }
            wander = 0.97 * wander + random.uniform(-0.012, 0.012)
            let relative = Self.relative(second, of: workout, wander)
            let pace = isPaused ? 0 : speed * relative * max(0.6, 1 - 3 * grade)
            let drift = 0.05 * Double(second) / 3600
            let effort = isPaused ? 0.12 : workout.effort * relative * (1 + max(-0.1, 0.8 * grade)) + drift
            let target = plan.resting + reserve * min(0.96, effort)
            rate += (target - rate) * Double(Self.step) / (target > rate ? 50 : 75)
            let covered = pace * Double(Self.step)
            meters.append(meters[index] + covered)
            steps.append(steps[index] + effect.steps(pace) * Double(Self.step))
            kilocalories.append(
                kilocalories[index] + covered * effect.kilocaloriesPerMeter * (1 + max(-0.3, 3 * grade)))
            ascent += max(0, hills.at(meters[index + 1]).height - height)
        }
    }

    private mutating func reserveCapacity(_ count: Int) {
        heart.reserveCapacity(count)
        meters.reserveCapacity(count)
        steps.reserveCapacity(count)
        kilocalories.reserveCapacity(count)
        elevation.reserveCapacity(count)
    }

    /// The effort at a moment in relation to the workout's: easy at both ends, up and down in intervals.
    private static func relative(_ second: Int64, of workout: DayPlan.Workout, _ wander: Double) -> Double {
        let left = workout.end - workout.start - second
        let warm = 0.86 + 0.14 * min(1, Double(second) / 360)
        let cool = left < 240 ? 0.9 + 0.1 * Double(left) / 240 : 1
        var relative = warm * cool * (1 + wander)
        if workout.isIntervals, second >= 600, left > 480 { relative *= (second - 600) % 300 < 180 ? 1.12 : 0.86 }
        return relative
    }

    /// The value of a column from the start to a second, which may lie between two points.
    func amount(_ column: [Double], at second: Int64) -> Double {
        let (index, rest) = (Int((second - start) / Self.step), (second - start) % Self.step)
        guard rest > 0, index + 1 < column.count else { return column[min(index, column.count - 1)] }
        return column[index] + (column[index + 1] - column[index]) * Double(rest) / Double(Self.step)
    }

    func rate(at second: Int64) -> Double { heart[min(heart.count - 1, Int((second - start) / Self.step))] }

    /// The rates that a watch measures from the start on, before the end.
    var rates: ArraySlice<Double> { heart.dropLast() }
}

/// What an activity does to a person.
private struct Effect {
    let speed: Double
    let usualEffort: Double
    let kilocaloriesPerMeter: Double
    let metersBetweenHills: Double
    private let activity: DayPlan.Workout.Activity
    private let person: Person

    init(_ activity: DayPlan.Workout.Activity, _ person: Person) {
        (self.activity, self.person) = (activity, person)
        switch activity {
        case .running: (speed, usualEffort) = (person.runningSpeed, 0.69)
        case .walking: (speed, usualEffort) = (person.walkingSpeed + 0.12, 0.36)
        case .cycling: (speed, usualEffort) = (person.cyclingSpeed, 0.58)
        }
        kilocaloriesPerMeter = person.massKilograms * Person.cost(activity) / 1000
        metersBetweenHills = activity == .cycling ? 900 : 330
    }

    /// Steps a second at a speed; runners step hardly faster when they hurry.
    func steps(_ speed: Double) -> Double {
        guard speed > 0 else { return 0 }
        return switch activity {
        case .running: 2.3 + 0.17 * speed
        case .walking: speed / person.stepLength(walking: speed)
        case .cycling: 0
        }
    }
}

extension Person {
    /// Active kilocalories for each kilogram and kilometre.
    static func cost(_ activity: DayPlan.Workout.Activity) -> Double {
        switch activity {
        case .running: 0.95
        case .walking: 0.55
        case .cycling: 0.3
        }
    }
}

/// Gentle hills along a way that ends as high as it begins.
private struct Hills {
    private static let sea = 46.0
    private let knots: [Double]
    private let between: Double

    init(length: Double, between: Double, height: Double, _ random: inout SeededRandom) {
        self.between = between
        let count = max(2, Int((length / between).rounded()))
        var knots = [0.0]
        for index in 1..<count {
            // Up and down in turns, so that even a short way isn't flat.
            let side = index % 2 == 0 ? -1.0 : 1
            knots.append(side * height * random.uniform(0.25, 1))
        }
        self.knots = knots
    }

    /// The height above the sea, and the slope as a fraction.
    func at(_ meters: Double) -> (height: Double, grade: Double) {
        let index = Int(meters / between)
        let part = meters / between - Double(index)
        let (before, after) = (knot(index), knot(index + 1))
        let height = before + (after - before) * part * part * (3 - 2 * part)
        return (Self.sea + height, (after - before) * 6 * part * (1 - part) / between)
    }

    private func knot(_ index: Int) -> Double { index < knots.count ? knots[index] : 0 }
}
