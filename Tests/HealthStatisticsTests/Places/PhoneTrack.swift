import Foundation
import HealthModel
import HealthStatistics
import TestSupport

/// A track like those recorded by phones: it drifts while the phone isn't moving, jumps now and then, has no fixes for
/// hours, and is often only roughly accurate.
struct PhoneTrack {
    static let home = (latitude: 52.5, longitude: 13.4)

    private(set) var fixes: [LocationFix] = []
    private(set) var coordinates: [(latitude: Double, longitude: Double)] = []
    private(set) var time: Instant
    private var random: SeededRandom
    /// Metres east and north of home.
    private var place = (x: 0.0, y: 0.0)
    private var drift = (x: 0.0, y: 0.0)
    /// The share of fixes that jump, and the share of those that are coarse.
    var jumps = 0.01
    var coarse = 0.05
    /// Whether one jump may immediately follow another.
    var jumpsOften = false
    private var sinceJump = Int.max

    init(seed: UInt64, from time: Instant = Instant(seconds: 1_748_736_000)) {
        random = SeededRandom(seed: seed)
        self.time = time
    }

    static func coordinates(_ x: Double, _ y: Double) -> (latitude: Double, longitude: Double) {
        let degree = 111_195.0
        return (home.latitude + y / degree, home.longitude + x / degree / cos(home.latitude * .pi / 180))
    }

    private mutating func uniform(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * Double(random.next() >> 11) / Double(1 << 53)
    }

    /// Normally distributed, with a standard deviation of 1.
    private mutating func normal() -> Double {
        (-2 * log(1 - uniform(0...1))).squareRoot() * cos(uniform(0...2 * .pi))
    }

    private mutating func chance(_ share: Double) -> Bool { uniform(0...1) < share }

    private mutating func fix() {
        var accuracy = uniform(5...30)
        var spread = accuracy / 2
        if chance(coarse) {
            accuracy = uniform(150...3000)
            spread = accuracy / 2
        }
        drift = (drift.x * 0.9 + normal() * 3, drift.y * 0.9 + normal() * 3)
        var (x, y) = (place.x + drift.x + normal() * spread / 2, place.y + drift.y + normal() * spread / 2)
        sinceJump = sinceJump == .max ? .max : sinceJump + 1
        if chance(jumps), jumpsOften || sinceJump > 6 {
            sinceJump = 0
            let (far, turn) = (uniform(200...5000), uniform(0...6.28))
            (x, y) = (x + far * cos(turn), y + far * sin(turn))
        }
        if chance(0.02) { accuracy = -1 }
        if accuracy < 100, chance(0.02) { accuracy = .nan }
        let at = Self.coordinates(x, y)
        fixes.append(
            LocationFix(time: time, latitude: at.latitude, longitude: at.longitude, accuracy: accuracy))
        coordinates.append(at)
    }

    /// Stays at one point for some seconds, with a fix at regular intervals.
    mutating func stay(_ seconds: Double, every: ClosedRange<Double>) {
        let end = time + .seconds(seconds)
        while time < end {
            fix()
            time += .seconds(uniform(every))
        }
    }

    /// Goes straight to a point, which is given in metres from home.
    mutating func go(to x: Double, _ y: Double, speed: Double, every: ClosedRange<Double>) {
        let from = place
        let length = ((x - from.x) * (x - from.x) + (y - from.y) * (y - from.y)).squareRoot()
        let start = time
        while (time - start).seconds * speed < length {
            let share = (time - start).seconds * speed / length
            place = (from.x + (x - from.x) * share, from.y + (y - from.y) * share)
            fix()
            time += .seconds(uniform(every))
        }
        place = (x, y)
    }

    mutating func silence(_ seconds: Double) { time += .seconds(seconds) }

    /// Random movements: stays, trips, gaps of up to a day and a half, and several fixes at the same time.
    mutating func wander(_ steps: Int) {
        for _ in 0..<steps {
            let slowest: Double = ([1, 20, 120, 900] as [Double]).randomElement(using: &random) ?? 20
            let every = slowest / 4...slowest
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1: stay(min(uniform(10...20_000), slowest * 200), every: every)
            case 2, 3: go(to: uniform(-600...600), uniform(-600...600), speed: uniform(2...30), every: every)
            case 4: silence(uniform(0...130_000))
            default: for _ in 0..<3 { fix() }
            }
        }
    }
}
