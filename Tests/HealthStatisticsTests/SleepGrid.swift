import HealthModel
import HealthStatistics
import TestSupport

/// A night's samples in whole minutes, and how long the person slept by several rules: computed minute by minute, in
/// the simplest way.
struct SleepGrid {
    struct Sample {
        var start: Int64
        var end: Int64
        var value: Int
        var source: String

        var isAsleep: Bool { [1, 3, 4, 5].contains(value) }
    }

    static let type = "HKCategoryTypeIdentifierSleepAnalysis"
    static let minute = 60 * Instant.microsecondsPerSecond
    /// By priority.
    static let names = ["Watch", "iPhone", "AutoSleep", "Ring"]

    var samples: [Sample]

    /// - Parameter order: shuffles the order in which the samples, and so their sources, arrive.
    func page(order: (inout [PageBuilder.Row]) -> Void = { _ in }) -> SamplePage {
        var builder = PageBuilder()
        for sample in samples {
            builder.add(
                Self.type, sample.start * Self.minute, sample.end * Self.minute, Double(sample.value),
                source: sample.source)
        }
        order(&builder.rows)
        return builder.page()
    }

    /// The samples of each session.
    func sessions(gap: Int64) -> [SleepGrid] {
        var found: [SleepGrid] = []
        var end = Int64.min
        for sample in samples.sorted(by: { $0.start < $1.start }) {
            if found.isEmpty || sample.start > end && sample.start - end > gap {
                found.append(SleepGrid(samples: []))
                end = sample.end
            }
            found[found.count - 1].samples.append(sample)
            end = max(end, sample.end)
        }
        return found
    }

    private enum Say { case asleep, awake }

    /// What each source says about each minute; sources with stages first, then those with sleep.
    private var reported: [(source: String, minutes: [Int64: Say])] {
        let all = Self.names.compactMap { name -> (rank: Int, source: String, minutes: [Int64: Say])? in
            let own = samples.filter { $0.source == name && $0.value != 0 }
            guard !own.isEmpty else { return nil }
            var minutes: [Int64: Say] = [:]
            for sample in own where !sample.isAsleep {
                for at in sample.start..<sample.end { minutes[at] = .awake }
            }
            for sample in own where sample.isAsleep { for at in sample.start..<sample.end { minutes[at] = .asleep } }
            return (own.contains { $0.value > 2 } ? 0 : own.contains(where: \.isAsleep) ? 1 : 2, name, minutes)
        }
        return (0...2).flatMap { rank in all.filter { $0.rank == rank }.map { ($0.source, $0.minutes) } }
    }

    /// Only the first source.
    var ofOneSource: Int { reported.first?.minutes.values.count { $0 == .asleep } ?? 0 }

    /// Every minute that any source calls asleep.
    var union: Int { Set(reported.flatMap { $0.minutes.filter { $0.value == .asleep }.keys }).count }

    /// Each minute as the first source says that knows of it, however far from the others' samples.
    var firstWord: Int { minutesBySource(gap: -1).values.reduce(0, +) }

    /// The rule: as `firstWord`, but at the edges only if the source goes on for longer than the gap.
    func minutesBySource(gap: Int64) -> [String: Int] {
        var said: [Int64: (say: Say, source: String)] = [:]
        for (source, minutes) in reported {
            let (first, last) = (said.keys.min(), said.keys.max())
            let asleep = minutes.filter { $0.value == .asleep }.keys
            let isEarlier = asleep.min().flatMap { start in first.map { $0 - start > max(gap, 0) } } ?? false
            let isLater = asleep.max().flatMap { end in last.map { end - $0 > max(gap, 0) } } ?? false
            for (at, say) in minutes where said[at] == nil {
                if let first, at < first, !isEarlier, gap >= 0 { continue }
                if let last, at > last, !isLater, gap >= 0 { continue }
                said[at] = (say, source)
            }
        }
        return said.values.reduce(into: [:]) { $0[$1.source, default: 0] += $1.say == .asleep ? 1 : 0 }
    }
}
