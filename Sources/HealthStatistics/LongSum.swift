import HealthModel

/// A sample that an app added up over many hours, such as a band's steps of a day. Only what it has beyond all finer
/// samples within its span counts, since it contains the same steps.
///
/// HealthKit would instead spread it evenly over its span and fill every gap of the watch with it.
struct LongSum: Sendable {
    /// The sample's times, microseconds since 1970.
    let start: Int64
    let end: Int64
    /// Its source's index.
    let group: Int
    /// Whether the user put its source in order: then sources below it count only where it has no time.
    let isChosen: Bool
    /// The sample's value, and the time over which it is spread: its span or, if it is an instant, the day.
    private let value: Double
    private let span: Int64
    /// The part of that time which is within the day, in order.
    private(set) var ranges: [Range<Int64>]
    private(set) var length: Int64
    /// Whether it is among the greatest.
    private(set) var isCompared = true
    /// Whether it adds something, or is all that is known of its time.
    private(set) var counts = false
    /// What it adds, and the time over which that is spread.
    private var added: (amount: Double, over: Int64) = (0, 0)

    /// Devices store samples of up to an hour, and apps may store a walk or a ride as one. What spans more was added up
    /// over idle hours too, so its even spread says nothing about when it was.
    static let least: Int64 = 4 * 3600 * Instant.microsecondsPerSecond
    /// How many sums of a day are compared at most, the greatest first, so that their cost is bounded. Only six have
    /// room in a day without overlaps.
    static let most = 64

    init(
        _ page: SamplePage, _ row: Int, _ group: Int, _ sources: SourceGroups, _ order: SourceOrder,
        window: [Range<Int64>]
    ) {
        (start, end, self.group) = (page.start[row], page.end[row], group)
        isChosen = order.isChosen(sources.sources[group].rank)
        value = page.value[row]
        span = start == end ? window.length : end - start
        ranges = start == end ? window : window.clamped(to: start..<end)
        length = ranges.length
    }

    /// Its value within `ranges`: a sum that crosses midnight is divided in proportion.
    var stated: Double { Self.part(length, of: (value, span)) }

    private static func part(_ length: Int64, of whole: (amount: Double, over: Int64)) -> Double {
        length == whole.over ? whole.amount : whole.amount * (Double(length) / Double(whole.over))
    }

    /// Counts what it has beyond all that counts already in its time.
    /// - Parameter others: nil if nothing does.
    mutating func count(beyond others: Double?) {
        added = others.map { (stated - $0, length) } ?? (value, span)
        counts = others == nil || added.amount > 0
    }

    /// What it adds in a range; nil if it has no time there.
    func part(in range: Range<Int64>) -> Double? {
        let common = ranges.clamped(to: range).length
        return common == 0 ? nil : Self.part(common, of: added)
    }

    /// The sums in the order in which they are compared with what counts already: first those of sources that the user
    /// put in order, which take their time from those after them; then shorter before longer, and greater before less.
    static func inOrder(_ sums: [LongSum]) -> [LongSum] {
        func times(_ a: LongSum, precede b: LongSum) -> Bool { (a.start, a.end, a.group) < (b.start, b.end, b.group) }
        var sums = sums.sorted { $0.stated == $1.stated ? times($0, precede: $1) : $0.stated > $1.stated }
        for index in sums.indices.dropFirst(most) { sums[index].isCompared = false }
        func place(_ sum: LongSum) -> Int { sum.isCompared ? sum.isChosen ? sum.group : .max - 1 : .max }
        sums.sort { a, b in
            if place(a) != place(b) { return place(a) < place(b) }
            if a.length != b.length { return a.length < b.length }
            return a.stated == b.stated ? times(a, precede: b) : a.stated > b.stated
        }
        for index in sums.indices where sums[index].isCompared {
            let taken = sums[..<index].filter { $0.isChosen && $0.group < sums[index].group }
            guard !taken.isEmpty else { continue }
            sums[index].ranges = sums[index].ranges.subtracting(taken.flatMap(\.ranges))
            sums[index].length = sums[index].ranges.length
        }
        return sums
    }

    /// Which rows are such sums: those that span many hours, and a source's only sample of the day if it is an instant.
    /// What a person entered never is.
    /// - Returns: indices into `rows`, which have one type.
    static func rows(_ page: SamplePage, _ rows: [Int], _ groups: SourceGroups, window: [Range<Int64>]) -> [Int] {
        guard let type = rows.first.map({ HealthType.named(page.typeName($0)) }), type.hasLongSums else { return [] }
        func isEntered(_ row: Int) -> Bool { !page.flags[row].isDisjoint(with: [.userEntered, .manual]) }
        let long = rows.indices.filter { page.end[rows[$0]] - page.start[rows[$0]] >= least && !isEntered(rows[$0]) }
        func isInstant(_ row: Int) -> Bool { page.start[row] == page.end[row] && !isEntered(row) }
        guard type.isCountedAllDay, rows.contains(where: isInstant) else { return long }
        var samples = [Int](repeating: 0, count: groups.sources.count)
        var instants = [Int?](repeating: nil, count: groups.sources.count)
        for (index, row) in rows.enumerated() where window.meet(page.start[row], page.end[row]) {
            samples[Int(groups.ofRow[index])] += 1
            if isInstant(row) { instants[Int(groups.ofRow[index])] = index }
        }
        let single = zip(samples, instants).compactMap { $0 == 1 ? $1 : nil }
        return (long + single.filter { !type.hasInstants(of: page.originOf(rows[$0])) }).sorted()
    }
}

extension HealthType {
    /// iPhones store each flight of stairs as an instant, so one on a day isn't a sum.
    fileprivate func hasInstants(of origin: Origin) -> Bool {
        identifier == "HKQuantityTypeIdentifierFlightsClimbed" && SourceRank.isAppleDevice(origin)
    }
}

extension [Range<Int64>] {
    var length: Int64 { reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }

    /// Whether a sample with these times overlaps one of them or, if it has no duration, is within one.
    func meet(_ start: Int64, _ end: Int64) -> Bool {
        contains { $0.lowerBound < end && start < $0.upperBound || $0.contains(start) }
    }

    /// The parts within a range; empty ones are left out.
    func clamped(to range: Range<Int64>) -> [Range<Int64>] {
        compactMap {
            let part = $0.clamped(to: range)
            return part.isEmpty ? nil : part
        }
    }

    func subtracting(_ others: [Range<Int64>]) -> [Range<Int64>] {
        func set(_ ranges: [Range<Int64>]) -> IntervalSet { IntervalSet(ranges.map { Range(microseconds: $0) }) }
        return set(self).subtracting(set(others)).ranges.map(\.microseconds)
    }
}
