import Foundation
import HealthModel
import HealthStatistics

/// A place's visits, computed from all fixes at once: slowly, and by a different method from that of the monitor.
struct PlaceReference {
    let condition: PlaceCondition
    var gap = 12 * 3600.0
    var accuracy = 100.0
    var margin = 30.0
    var settle = 20.0

    private struct Decision {
        var time: Instant
        var isInside: Bool
    }

    var configuration: Value {
        [
            "gapHours": .number(gap / 3600), "accuracyMeters": .number(accuracy), "marginMeters": .number(margin),
            "settleSeconds": .number(settle),
        ]
    }

    /// A visit without the members that only explain it.
    struct Visit: Equatable, CustomStringConvertible {
        var arrival: Instant
        var lastSeen: Instant
        var departure: Instant?
        var isEntered: Bool
        var fixes: Int

        var description: String {
            "\(InstantText.iso8601(arrival))…\(InstantText.iso8601(lastSeen)) "
                + "left \(departure.map { InstantText.iso8601($0) } ?? "-") entered \(isEntered) fixes \(fixes)"
        }
    }

    func visits(_ fixes: [LocationFix], at coordinates: [(latitude: Double, longitude: Double)]) -> [Visit] {
        let decisions = zip(fixes, coordinates).compactMap { fix, place in decision(fix, place) }
        var stretches: [[Decision]] = []
        for decision in decisions {
            if let last = stretches.last?.last, (decision.time - last.time).seconds <= gap {
                stretches[stretches.count - 1].append(decision)
            } else {
                stretches.append([decision])
            }
        }
        return stretches.flatMap(visits(in:))
    }

    private func visits(in stretch: [Decision]) -> [Visit] {
        // Which fixes agree with one another, as ranges of indices. Only those that agree for long enough count.
        var runs: [Range<Int>] = []
        for index in stretch.indices {
            if let last = runs.last, stretch[last.lowerBound].isInside == stretch[index].isInside {
                runs[runs.count - 1] = last.lowerBound..<index + 1
            } else {
                runs.append(index..<index + 1)
            }
        }
        let settled = runs.filter { run in
            (stretch[run.upperBound - 1].time - stretch[run.lowerBound].time).seconds >= settle
        }
        var found: [Visit] = []
        for (index, run) in settled.enumerated() where stretch[run.lowerBound].isInside {
            let before = index > 0 ? stretch[settled[index - 1].lowerBound].isInside : nil
            guard before != true else { continue }
            let end = settled[index...].first { !stretch[$0.lowerBound].isInside }
            let own = stretch[run.lowerBound..<(end?.lowerBound ?? stretch.count)].filter(\.isInside)
            found.append(
                Visit(
                    arrival: own[0].time, lastSeen: own[own.count - 1].time,
                    departure: end.map { stretch[$0.lowerBound].time }, isEntered: before == false, fixes: own.count))
        }
        return found
    }

    private func decision(_ fix: LocationFix, _ place: (latitude: Double, longitude: Double)) -> Decision? {
        let known = fix.accuracy.isNaN ? 0 : fix.accuracy
        if known < 0 || known > max(accuracy, condition.radius / 2) { return nil }
        let distance = haversine(place)
        if distance <= condition.radius { return Decision(time: fix.time, isInside: true) }
        if distance <= condition.radius + max(margin, known) { return nil }
        return Decision(time: fix.time, isInside: false)
    }

    private func haversine(_ place: (latitude: Double, longitude: Double)) -> Double {
        let radians = Double.pi / 180
        let (phi, other) = (condition.latitude * radians, place.latitude * radians)
        let half =
            pow(sin((other - phi) / 2), 2)
            + cos(phi) * cos(other) * pow(sin((place.longitude - condition.longitude) * radians / 2), 2)
        return 2 * 6_371_008.8 * asin(half.squareRoot())
    }
}

extension PlaceReference.Visit {
    init(_ visit: PlaceVisit) {
        self.init(
            arrival: visit.arrival, lastSeen: visit.lastSeen, departure: visit.departure, isEntered: visit.isEntered,
            fixes: visit.fixes)
    }
}
