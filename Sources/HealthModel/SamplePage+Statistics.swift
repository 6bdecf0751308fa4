extension SamplePage {
    /// The page with its statistics turned into samples of their base type, except where something better covers the
    /// same time and source: samples, or statistics of shorter stretches. This way, nothing is counted twice.
    /// Statistics that count are marked (`SampleFlags.statistics`).
    ///
    /// Statistics that several sources share name all of these ("Watch|iPhone", as apps write it); statistics without a
    /// source apply to all sources.
    func countingStatistics() -> SamplePage {
        let bases = types.map { HealthType.base(ofStatistics: $0) }
        guard bases.contains(where: { $0 != nil }) else { return self }
        var page = self
        var numbers = Dictionary(types.enumerated().map { ($1, Int32($0)) }, uniquingKeysWith: { first, _ in first })
        let targets: [Int32?] = bases.map { base in
            base.map { numbers.place(of: $0, in: &page.types, adding: $0) }
        }
        page.endDays(targets)
        // The time that is already covered, by type and source.
        var taken: [Source: TakenTime] = [:]
        let origins = origins.map(\.sourceName)
        let sleep = types.firstIndex(of: HealthType.sleepIdentifier).map { Int32($0) }
        for row in ids.indices where targets[Int(type[row])] == nil {
            // Time in bed and time awake don't show how long a person slept.
            if type[row] == sleep, value[row] == 0 || value[row] == 2 { continue }
            let time = start[row]..<Swift.max(end[row], start[row] + 1)
            for name in [origins[Int(origin[row])], Self.anybody] {
                taken[Source(type: type[row], name: name), default: TakenTime()].add(time)
            }
        }
        for key in taken.keys { taken[key]?.settle() }
        var isLeftOut = [Bool](repeating: false, count: count)
        // Shorter stretches come first: an hour is more precise than the day it is part of. A night is reported
        // repeatedly while it goes on, each time with a later end, so the newest report comes first.
        let nights = types.map { HealthType.base(ofStatistics: $0) == HealthType.sleepIdentifier }
        let ends = page.end
        let precedence = { (row: Int) -> (Int64, Int64, Int64) in
            let (length, age) = (ends[row] - start[row], row < created.count ? -created[row] : 0)
            return nights[Int(type[row])] ? (age, -length, start[row]) : (length, start[row], age)
        }
        let statistics = ids.indices.filter { targets[Int(type[$0])] != nil }.sorted {
            let (first, second) = (precedence($0), precedence($1))
            return first == second ? isGreater($0, than: $1) : first < second
        }
        var stated: [Source: TakenTime] = [:]
        for row in statistics {
            guard let target = targets[Int(type[row])] else { continue }
            let names = Self.names(of: origins[Int(origin[row])])
            let time = start[row]..<Swift.max(ends[row], start[row] + 1)
            let isKnown = names.contains { name in
                let source = Source(type: target, name: name)
                return taken[source]?.overlaps(time) == true || stated[source]?.overlaps(time) == true
            }
            if isKnown {
                isLeftOut[row] = true
                continue
            }
            for name in names + [Self.anybody] {
                stated[Source(type: target, name: name), default: TakenTime()].add(time)
            }
            page.type[row] = target
            page.flags[row].insert(.statistics)
        }
        return isLeftOut.contains(true) ? page.filter { !isLeftOut[$0] } : page
    }

    /// Ends sums of 24 hours where the source's next day begins: apps that don't know when the clocks change count 24
    /// hours for each day, and the day after would overlap.
    private mutating func endDays(_ targets: [Int32?]) {
        let days = ids.indices.filter { row in
            targets[Int(type[row])] != nil && abs(end[row] - start[row] - Self.day) <= 2 * Self.hour
        }
        let begins = Set(days.map { DayStart(type: type[$0], origin: origin[$0], start: start[$0]) })
        for row in days where end[row] - start[row] == Self.day {
            let next = Self.changes.map { end[row] - $0 }.first { next in
                begins.contains(DayStart(type: type[row], origin: origin[row], start: next))
            }
            if let next { end[row] = next }
        }
    }

    private struct DayStart: Hashable {
        var type: Int32
        var origin: Int32
        var start: Int64
    }

    /// By how much clocks are put forward: half an hour on Lord Howe Island, two hours on Troll.
    private static let changes = [hour, hour / 2, 2 * hour]
    private static let hour: Int64 = 3600 * Instant.microsecondsPerSecond
    private static let day = 24 * hour

    /// Which of two statistics of the same time comes first, if nothing else decides: the one with the greater value,
    /// then with the greater content, then the one whose source comes first by name.
    private func isGreater(_ a: Int, than b: Int) -> Bool {
        if value[a] != value[b], !(value[a].isNaN && value[b].isNaN) { return value[b].isNaN || value[a] > value[b] }
        if payload.count == count, payload[a] != payload[b] { return payload[a] > payload[b] }
        return originOf(a).sourceName < originOf(b).sourceName
    }

    private static let anybody = ""

    private static func names(of source: String) -> [String] {
        if Origin.unnamedSources.contains(source) { return [anybody] }
        return source.split(separator: "|").map(String.init)
    }

    private struct Source: Hashable {
        var type: Int32
        var name: String
    }
}

/// Stretches of time, as half-open ranges of microseconds.
private struct TakenTime {
    /// In order and disjoint once settled.
    private var ranges: [Range<Int64>] = []
    /// Ranges added since they were last settled.
    private var others: [Range<Int64>] = []

    mutating func add(_ range: Range<Int64>) { others.append(range) }

    mutating func settle() { (ranges, others) = ((ranges + others).united(), []) }

    func overlaps(_ range: Range<Int64>) -> Bool {
        if others.contains(where: { $0.overlaps(range) }) { return true }
        let next = ranges.firstPlace(behind: { $0.upperBound <= range.lowerBound })
        return next < ranges.count && ranges[next].lowerBound < range.upperBound
    }
}
