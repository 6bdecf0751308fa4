import HealthModel
import HealthViews
import Protocol

/// `healthbus samples`: the samples that aren't deleted, in chronological order, page by page. The columns are those of
/// the view `samples`.
package struct SampleExport {
    package struct Wish {
        package var user: String
        /// Identifiers; empty for all but workouts.
        package var types: [String] = []
        /// Only samples whose source's name contains this, ignoring case.
        package var source: String?
        /// Only samples that a person typed in (true), or only the others (false); nil for both.
        package var isEnteredByHand: Bool?
        /// Days on which samples begin.
        package var range = DateRange()
        package var limit: Int?

        package init(user: String) { self.user = user }
    }

    /// The columns of the tables for people.
    package static let shortColumns = ["type", "start", "end", "value", "unit", "source"]
    package static let columns = HealthViews(figures: [])[.samples]?.columns.map(\.name) ?? []

    private let queries: ObserverQueries
    private let wish: Wish
    private let zones: ZoneTimeline

    /// - Throws: `Failure` that names the users if this one is unknown.
    package init(_ stack: Stack, _ wish: Wish) throws {
        queries = try ObserverQueries(stack, stack.reader())
        zones = try queries.zones(of: wish.user)
        self.wish = wish
    }

    /// - Parameter isShort: whether to write only `shortColumns`.
    package func write(to output: RowOutput, isShort: Bool) throws {
        let from = wish.range.from.flatMap { start(of: $0) }
        let to = wish.range.to.flatMap { start(of: $0.adding(days: 1)) }
        let types = wish.types.isEmpty ? TypeChoice.allExcept([HealthType.workoutIdentifier]) : .only(wish.types)
        var request = SliceRequest(
            user: wish.user, types: types, asOf: AnchorVector(base: .end), from: from ?? Self.first,
            to: to ?? Self.last,
            detailed: isShort ? .list([]) : .choice(types))
        request.predicate = wish.isEnteredByHand.map { ["enteredByHand": .bool($0)] }
        var left = wish.limit ?? .max
        try queries.forEachPage(
            request, while: { left > 0 },
            { samples in
                let page = ExportedPage(samples, isShort: isShort, zones: zones)
                let isOfSource = page.origins(containing: wish.source)
                for row in 0..<samples.count where left > 0 && isOfSource[Int(samples.origin[row])] {
                    // A sample that began before the first day and reaches into it belongs to the earlier day.
                    if let from, samples.startOf(row) < from { continue }
                    page.write(row, user: wish.user, to: output)
                    try output.endRow()
                    left -= 1
                }
            })
        try output.finish()
    }

    /// The first instant of a day, or of the next day that exists.
    private func start(of day: LocalDay) -> Instant? {
        (0...3).lazy.compactMap { zones.ranges(of: day.adding(days: $0)).first?.lowerBound }.first
    }

    private static let first = Instant(seconds: -30_000_000_000)
    private static let last = Instant(seconds: 200_000_000_000)
}

/// A page of samples, with the strings that its rows share, as UTF-8.
private struct ExportedPage {
    let samples: SamplePage
    let isShort: Bool
    let zones: ZoneTimeline
    private let types: [[UInt8]]
    private let units: [[UInt8]]
    private let sources: [[UInt8]]
    /// By type: whether people see its values as percentages.
    private let isFraction: [Bool]

    init(_ samples: SamplePage, isShort: Bool, zones: ZoneTimeline) {
        (self.samples, self.isShort, self.zones) = (samples, isShort, zones)
        types = samples.types.map { Array((isShort ? TypeName.short($0) : $0).utf8) }
        units = samples.units.map { Array($0.utf8) }
        isFraction = samples.types.map { HealthType.named($0).isFraction }
        sources = samples.origins.map { Array($0.sourceName.utf8) }
    }

    /// By origin.
    func origins(containing text: String?) -> [Bool] {
        guard let text = text?.lowercased() else { return samples.origins.map { _ in true } }
        return samples.origins.map { $0.sourceName.lowercased().contains(text) }
    }

    func write(_ row: Int, user: String, to output: RowOutput) {
        func text(_ bytes: [UInt8]) { bytes.isEmpty ? output.null() : output.text(bytes) }
        func unit() { text(samples.unitIndex(row).map { units[$0] } ?? []) }
        let type = types[Int(samples.type[row])]
        let source = sources[Int(samples.origin[row])]
        guard !isShort else {
            output.text(type)
            output.text(Self.local(samples.startOf(row), zones))
            output.text(samples.end[row] == samples.start[row] ? "" : Self.local(samples.endOf(row), zones))
            let value = samples.value[row]
            output.number(isFraction[Int(samples.type[row])] ? ShownFraction.percent(value) : value)
            unit()
            return text(source)
        }
        output.uuid(samples.ids[row])
        output.text(user)
        output.text(type)
        output.moment(samples.startOf(row))
        output.moment(samples.endOf(row))
        output.number(samples.value[row])
        unit()
        text(source)
        output.text(samples.flags[row].contains(.manual) ? Self.manual : Self.healthKit)
        if let uuid = samples.uuidOf(row) { output.uuid(uuid) } else { output.null() }
        json(samples.metadata, row, output)
        json(samples.payload, row, output)
        output.integer(samples.sequence[row])
    }

    private func json(_ column: TextColumn, _ row: Int, _ output: RowOutput) {
        guard column.count > row else { return output.null() }
        column.bytes.withUnsafeBytes { output.json(UnsafeRawBufferPointer(rebasing: $0[column.range(row)])) }
    }

    private static let manual = Array("manual".utf8)
    private static let healthKit = Array("healthkit".utf8)

    /// The time on the local clock: 2025-03-30 08:15:00.
    static func local(_ instant: Instant, _ zones: ZoneTimeline) -> String {
        String(zones.localText(of: instant).prefix(19)).replacing("T", with: " ")
    }
}
