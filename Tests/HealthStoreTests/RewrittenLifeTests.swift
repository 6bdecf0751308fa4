import HealthModel
import HealthStore
import TestSupport
import Testing

/// A random life in which HealthKit condenses samples, and people rename devices and apps, delete samples, push some of
/// them and make exports in between.
struct RewrittenLife {
    enum Event {
        case export(day: Int64, [Record])
        case push(day: Int64, [Record])
        case delete([SampleID])
    }

    /// Measurements that HealthKit may keep in one sample.
    private struct Measure {
        var source: Int
        var type: String
        /// The record of each, without the source's name.
        var parts: [Record]
        /// The first and last part of each sample.
        var forms: [ClosedRange<Int>]
    }

    private(set) var events: [Event] = []
    /// What counts in the end, under the names that the sources had at first.
    private(set) var expected: [Record] = []
    private(set) var names: [String]

    private static let firstNames = ["Watch", "Phone", "App"]
    private var random: SeededRandom
    private var measures: [Measure] = []
    private var entries: [(record: Record, source: Int, isThere: Bool, isKnownDeleted: Bool, wasExported: Bool)] = []
    /// The last export's forms of each measure, and the parts that were pushed before.
    private var shown: [Int: [ClosedRange<Int>]] = [:]
    private var nextUUID: UInt64 = 1

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        names = Self.firstNames
        var used = Set(names)
        for day in Int64(1)...8 {
            live(day)
            if day > 2, Bool.random(using: &random) { condense() }
            if day > 1, Int.random(in: 0..<3, using: &random) == 0 { rename(&used) }
            if Int.random(in: 0..<3, using: &random) == 0 { delete(day) }
            if Bool.random(using: &random) { push(day) }
            if day == 1 || day == 8 || Bool.random(using: &random) { export(day) }
        }
        finish()
    }

    private mutating func makeUUID() -> SampleID {
        nextUUID += 1
        return uuid(nextUUID)
    }

    private mutating func live(_ day: Int64) {
        let start = 1_700_000_000 + Double(day) * 86_400
        for (source, type, unit) in [
            (0, "HKQuantityTypeIdentifierStepCount", "count"), (1, "HKQuantityTypeIdentifierStepCount", "count"),
            (0, "HKQuantityTypeIdentifierHeartRate", "count/min"),
        ] {
            let isRate = unit == "count/min"
            var value = Double(Int.random(in: 60...64, using: &random)) + Double(source) / 4
            var at = start + Double(Int.random(in: 0...20, using: &random)) * 7
            let parts = (0..<Int.random(in: 2...9, using: &random)).map { _ in
                if Int.random(in: 0..<3, using: &random) == 0 { value += 1 }
                let length = isRate ? 0 : Double(Int.random(in: 5...12, using: &random))
                defer { at += isRate ? 5 : length }
                return Record(
                    type: type, start: at, length: length, value: isRate ? value : value * length, unit: unit,
                    uuid: makeUUID())
            }
            measures.append(
                Measure(source: source, type: type, parts: parts, forms: parts.indices.map { $0...$0 }))
        }
        for number in 0..<3 {
            entries.append(
                (
                    Record(
                        type: "HKQuantityTypeIdentifierDietaryWater", start: start + Double(number) * 1000 + 500,
                        length: 0, value: Double(Int.random(in: 1...3, using: &random)) * 100, unit: "mL",
                        uuid: makeUUID()), 2, true, false, false
                ))
        }
        entries.append(
            (
                Record(
                    type: HealthType.workoutIdentifier, start: start, length: 600, value: .nan, unit: "",
                    payload: #"{"activity":"HKWorkoutActivityTypeRunning"}"#, uuid: makeUUID()),
                Int.random(in: 0...1, using: &random), true, false, false
            ))
    }

    /// Joins some neighbours of equal rate or value.
    private mutating func condense() {
        for index in measures.indices where Bool.random(using: &random) {
            var forms: [ClosedRange<Int>] = []
            for form in measures[index].forms {
                if let last = forms.last, rate(index, last) == rate(index, form),
                    Int.random(in: 0..<4, using: &random) > 0
                {
                    forms[forms.count - 1] = last.lowerBound...form.upperBound
                } else {
                    forms.append(form)
                }
            }
            measures[index].forms = forms
        }
    }

    private func rate(_ measure: Int, _ form: ClosedRange<Int>) -> Double {
        let record = record(measure, form)
        return record.unit == "count" ? record.value / record.length : record.value
    }

    private func record(_ measure: Int, _ form: ClosedRange<Int>) -> Record {
        let parts = measures[measure].parts
        var record = parts[form.lowerBound]
        record.length = parts[form.upperBound].start + parts[form.upperBound].length - record.start
        if record.unit == "count" { record.value = parts[form].reduce(0) { $0 + $1.value } }
        if form.count > 1 { record.uuid = nil }
        return record
    }

    private mutating func rename(_ used: inout Set<String>) {
        for source in names.indices where Bool.random(using: &random) {
            let back = names[source] != Self.firstNames[source] && Bool.random(using: &random)
            names[source] = back ? Self.firstNames[source] : "\(Self.firstNames[source]) \(used.count)"
            used.insert(names[source])
        }
    }

    /// A person deletes an entry. Whoever pushes UUIDs says so.
    private mutating func delete(_ day: Int64) {
        guard let index = entries.indices.filter({ entries[$0].isThere }).randomElement(using: &random),
            let uuid = entries[index].record.uuid
        else { return }
        entries[index].isThere = false
        entries[index].isKnownDeleted = true
        events.append(.delete([uuid]))
        // Deletions by UUID reach a sample only once its UUID is known.
        events.append(.push(day: day, [reported(entries[index].record, entries[index].source, hasUUID: true)]))
    }

    private func reported(_ record: Record, _ source: Int, hasUUID: Bool) -> Record {
        var record = record
        record.source = names[source]
        if !hasUUID { record.uuid = nil }
        return record
    }

    /// The newest samples, with or without their UUIDs.
    private mutating func push(_ day: Int64) {
        let hasUUIDs = Bool.random(using: &random)
        var records: [Record] = []
        for index in measures.indices.suffix(4) where Bool.random(using: &random) {
            for form in measures[index].forms {
                let record = record(index, form)
                records.append(reported(record, measures[index].source, hasUUID: hasUUIDs))
            }
            if shown[index] == nil { shown[index] = measures[index].forms }
        }
        for index in entries.indices.suffix(6) where entries[index].isThere {
            records.append(reported(entries[index].record, entries[index].source, hasUUID: hasUUIDs))
            entries[index].wasExported = true
        }
        events.append(.push(day: day, records))
    }

    private mutating func export(_ day: Int64) {
        var records: [Record] = []
        for index in measures.indices {
            records += measures[index].forms.map { reported(record(index, $0), measures[index].source, hasUUID: false) }
            shown[index] = measures[index].forms
        }
        for index in entries.indices where entries[index].isThere {
            records.append(reported(entries[index].record, entries[index].source, hasUUID: false))
            entries[index].wasExported = true
        }
        events.append(.export(day: day, records))
    }

    private mutating func finish() {
        for index in measures.indices {
            for form in shown[index] ?? [] {
                var record = record(index, form)
                record.source = Self.firstNames[measures[index].source]
                expected.append(record)
            }
        }
        for entry in entries where entry.wasExported && !entry.isKnownDeleted {
            var record = entry.record
            record.source = Self.firstNames[entry.source]
            expected.append(record)
        }
    }
}

/// Whatever Apple and people did to the samples, and in whatever order that arrives, each counts once, under the id that
/// it would have had in a life in which nothing was ever rewritten.
@Suite struct RewrittenLifeTests {
    static func run(_ event: RewrittenLife.Event, _ life: ExportedLife) throws {
        switch event {
        case .export(let day, let records): try life.export(day, records, parts: 2)
        case .push(let day, let records): try life.push(day, records)
        case .delete(let uuids): try life.delete(uuids)
        }
    }

    private struct Counted: Hashable, Comparable {
        var type: String
        var start: Int64
        var end: Int64
        var value: Int64

        init(_ row: Row) {
            (type, start, end) = (row.type, row.start.flooredSecond, row.end.flooredSecond)
            value = Int64(((row.value ?? 0) * 1000).rounded())
        }

        static func < (a: Counted, b: Counted) -> Bool { (a.type, a.start, a.end) < (b.type, b.start, b.end) }
    }

    @Test(arguments: UInt64(1)...60) func everyOrderGivesTheCleanLife(seed: UInt64) throws {
        var random = SeededRandom(seed: seed &* 7919)
        let store = try StoreFixture()
        let users = ["anna", "ben"]
        let made = users.indices.map { RewrittenLife(seed: seed &* 10 + UInt64($0)) }
        let lives = try users.map { try ExportedLife(store, user: $0) }
        var events = made.indices.flatMap { user in made[user].events.map { (user, $0) } }
        if seed % 4 != 0 { events.shuffle(using: &random) }
        for (user, event) in events { try Self.run(event, lives[user]) }
        for (user, life) in lives.enumerated() {
            let clean = try ExportedLife(user: users[user])
            try clean.export(1, made[user].expected)
            let (found, wanted) = (
                try life.rows().map(Counted.init).sorted(), try clean.rows().map(Counted.init).sorted()
            )
            let (more, less) = (found.filter { !wanted.contains($0) }, wanted.filter { !found.contains($0) })
            #expect(
                more.isEmpty && less.isEmpty && found.count == wanted.count,
                "seed \(seed), user \(user): \(more) instead of \(less), \(found.count) instead of \(wanted.count)")
            guard found == wanted else { continue }
            #expect(try life.ids() == clean.ids(), "seed \(seed), user \(user): other ids")
            let names = try life.sources()
            #expect(names == Set(made[user].names), "seed \(seed), user \(user): names are \(names)")
        }
    }
}
