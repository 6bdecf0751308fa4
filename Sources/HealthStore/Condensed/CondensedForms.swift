import HealthModel

/// A sample as one of several forms in which a source may have kept the same measurements.
package struct SampleForm: Equatable {
    // Whole seconds since 1970, since exports print no fractions.
    package var start: Int64
    package var end: Int64
    package var value: Double
    /// Whether the sample counts, or would count if nothing stood for it.
    var isThere: Bool
    /// The imports that contained it, by their numbers.
    var imports: [Int]
    /// When the newest export that contained it was made, in µs since 1970; `.min` if unknown.
    var exported: Int64
    /// When HealthKit stored it, in µs since 1970; `.min` if unknown.
    var created: Int64

    package init(
        start: Int64, end: Int64, value: Double, isThere: Bool = true, imports: [Int] = [], exported: Int64 = .min,
        created: Int64 = .min
    ) {
        (self.start, self.end, self.value, self.isThere) = (start, end, value, isThere)
        (self.imports, self.exported, self.created) = (imports, exported, created)
    }

    /// The latest moment at which it is known to have existed.
    var seen: Int64 { max(exported, created) }
    fileprivate var span: ClosedRange<Int64> { start...max(start, end) }
}

/// Determines which samples have been replaced by another form of the same measurements.
///
/// Months after a workout, HealthKit condenses its samples: neighbours of equal rate (or, for heart rates, of equal
/// value) become one sample, and the originals are deleted. This may happen several times to the same samples. A newer
/// export then has other records for the same time (Apple: "Accessing condensed workout samples").
///
/// A sample *stands for* others of its source and type if they lie in its time, begin and end with it, and have the same
/// sum or, for types that are averaged, its value. Of the two forms, the one that is known to have existed last counts;
/// if that isn't known, the sample that stands for the others does, because HealthKit never divides samples. Two forms
/// that the newest export contains together both count, as they do in HealthKit.
package enum CondensedForms {
    /// How samples of a type are put together.
    package enum Style {
        case sum, equal

        /// Nil for types whose samples HealthKit doesn't condense.
        package init?(_ type: HealthType) {
            guard type.kind == .quantity, HealthType.base(ofStatistics: type.identifier) == nil else { return nil }
            switch type.style {
            case .cumulative: self = .sum
            case .arithmetic, .temporallyWeighted, .equivalentLevel: self = .equal
            case .none: return nil
            }
        }
    }

    /// More rows than this in one place aren't compared: nothing that HealthKit condenses comes close.
    private static let limit = 50_000
    /// How many comparisons one place may take, and how often samples may have been condensed.
    private static let effort = 2_000_000
    private static let depth = 8
    /// The relative difference by which a printed sum may differ from the sum of printed values: twice that of a single
    /// value.
    static let tolerance = 4e-5

    package struct Outcome {
        /// For each sample, whether another form has replaced it.
        package var replaced: [Bool]
        /// The times of those that stand for others beside which they count.
        package var together: [ClosedRange<Int64>] = []
    }

    /// - Parameter forms: one source's samples of one type and unit.
    /// - Returns: nil if there are too many to compare: then all stay as they are.
    package static func outcome(_ forms: [SampleForm], _ style: Style) -> Outcome? {
        var result = Outcome(replaced: [Bool](repeating: false, count: forms.count))
        guard forms.count > 2 else { return result }
        guard forms.count <= limit else { return nil }
        var effort = Self.effort
        let order = forms.indices.sorted { (forms[$0].start, forms[$0].end) < (forms[$1].start, forms[$1].end) }
        var parts: [Int: [Int]] = [:]
        var whole = [Int?](repeating: nil, count: forms.count)
        // Shorter samples first, so that what stands for others is found before what stands for it.
        for candidate in order.filter({ forms[$0].end > forms[$0].start }).sorted(by: isShorter(forms)) {
            guard let found = match(candidate, forms, order, whole, style, &effort) else {
                if effort < 0 { return nil }
                continue
            }
            parts[candidate] = found
            for part in found { whole[part] = candidate }
        }
        for (form, first) in parts {
            var members = first
            for _ in 0..<depth {
                effort -= members.count
                if effort < 0 { return nil }
                switch newer(forms[form], members.map { forms[$0] }) {
                case .whole: for member in members { result.replaced[member] = true }
                case .parts: result.replaced[form] = true
                case .both: result.together.append(forms[form].span)
                }
                let finer = members.flatMap { parts[$0] ?? [$0] }
                if finer == members { break }
                members = finer
            }
        }
        return result
    }

    /// Whether any of these samples overlap, by their times alone.
    package static func mayCondense(_ forms: [SampleForm]) -> Bool {
        var end = Int64.min
        var start = Int64.min
        for form in forms.sorted(by: { ($0.start, $0.end) < ($1.start, $1.end) }) {
            // Equal times are equal keys, which have nothing to do with this.
            if form.start < end, form.start != start || form.end != end { return true }
            if form.start == start, form.end > end, end > .min { return true }
            if form.end >= end { (start, end) = (form.start, form.end) }
        }
        return false
    }

    /// Where samples overlap that no import contains together, although an import contains one of them.
    package static func overlaps(_ forms: [SampleForm]) -> [ClosedRange<Int64>] {
        var found: [ClosedRange<Int64>] = []
        var longest: SampleForm?
        for form in forms.sorted(by: { ($0.start, $0.end) < ($1.start, $1.end) }) {
            if let other = longest, form.start < other.end, form.span != other.span,
                !form.imports.isEmpty || !other.imports.isEmpty, !form.imports.contains(where: other.imports.contains)
            {
                let span = min(form.start, other.start)...max(form.end, other.end)
                if let last = found.last, last.upperBound >= span.lowerBound {
                    found[found.count - 1] = last.lowerBound...max(last.upperBound, span.upperBound)
                } else {
                    found.append(span)
                }
            }
            if longest.map({ form.end >= $0.end }) ?? true { longest = form }
        }
        return found
    }

    private static func isShorter(_ forms: [SampleForm]) -> (Int, Int) -> Bool {
        { (forms[$0].end - forms[$0].start, forms[$0].start) < (forms[$1].end - forms[$1].start, forms[$1].start) }
    }

    /// The samples that a sample stands for: those nearest to it, not what these stand for in turn.
    private static func match(
        _ candidate: Int, _ forms: [SampleForm], _ order: [Int], _ whole: [Int?], _ style: Style,
        _ effort: inout Int
    ) -> [Int]? {
        let form = forms[candidate]
        var inside: [Int] = []
        for index in order[order.firstPlace(behind: { forms[$0].start < form.start })...] {
            let other = forms[index]
            if other.start > form.end { break }
            effort -= 1
            if effort < 0 { return nil }
            guard index != candidate, other.end <= form.end, other.span != form.span else { continue }
            if style == .equal, !StoredValue.agrees(other.value, form.value) {
                // A neighbour may touch the edge.
                if other.start == other.end, other.start == form.start || other.start == form.end { continue }
                return nil
            }
            inside.append(index)
        }
        let members = Set(inside)
        let nearest = inside.filter { whole[$0].map { !members.contains($0) } ?? true }
        let there = nearest.filter { forms[$0].isThere }
        return edgeChoices(there, forms, form).first { isSame($0, forms, form, style) }
            ?? (there.count == nearest.count
                ? nil : edgeChoices(nearest, forms, form).first { isSame($0, forms, form, style) })
    }

    /// Instants at the edges may belong to the neighbours instead.
    private static func edgeChoices(_ inside: [Int], _ forms: [SampleForm], _ form: SampleForm) -> [[Int]] {
        func isInstant(_ index: Int, at second: Int64) -> Bool {
            forms[index].start == second && forms[index].end == second
        }
        let withoutFirst = inside.filter { !isInstant($0, at: form.start) }
        let withoutLast = inside.filter { !isInstant($0, at: form.end) }
        let neither = withoutFirst.filter { !isInstant($0, at: form.end) }
        return [inside, withoutLast, withoutFirst, neither]
    }

    private static func isSame(_ members: [Int], _ forms: [SampleForm], _ form: SampleForm, _ style: Style) -> Bool {
        guard members.count > 1, members.contains(where: { forms[$0].start == form.start }),
            members.contains(where: { forms[$0].end == form.end })
        else { return false }
        if style == .equal { return true }
        let sum = members.reduce(0) { $0 + forms[$1].value }
        return abs(sum - form.value) <= tolerance * max(abs(sum), abs(form.value))
    }

    private enum Newer { case whole, parts, both }

    private static func newer(_ whole: SampleForm, _ parts: [SampleForm]) -> Newer {
        if parts.allSatisfy({ isOlder($0, than: whole, ifUnknown: true) }) { return .whole }
        if parts.allSatisfy({ isOlder(whole, than: $0, ifUnknown: false) }) { return .parts }
        return .both
    }

    private static func isOlder(_ one: SampleForm, than other: SampleForm, ifUnknown: Bool) -> Bool {
        // What one file contains together exists together, whenever it was stored.
        if one.imports.contains(where: other.imports.contains) { return one.exported < other.exported }
        return one.seen == other.seen ? ifUnknown : one.seen < other.seen
    }
}
