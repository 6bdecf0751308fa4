import HealthModel
import HealthPush
import TestSupport
import Testing

/// Random requests with mixed forms, with members in any order, and with damage.
struct AutoExportPropertyTests {
    private indirect enum Node {
        case text(String)
        case list([Node])
        case object([(String, Node)])

        func json(_ random: inout SeededRandom, shuffled: Bool) -> String {
            switch self {
            case .text(let text): return text
            case .list(let nodes):
                var parts: [String] = []
                for node in nodes { parts.append(node.json(&random, shuffled: shuffled)) }
                return "[" + parts.joined(separator: ",") + "]"
            case .object(let members):
                var parts: [String] = []
                for (name, node) in shuffled ? members.shuffled(using: &random) : members {
                    let space = shuffled ? [" ", "", "\n"].randomElement(using: &random) ?? "" : ""
                    parts.append("\"\(name)\":\(space)\(node.json(&random, shuffled: shuffled))")
                }
                return "{" + parts.joined(separator: ",") + "}"
            }
        }
    }

    private static func date(_ random: inout SeededRandom) -> Node {
        let (day, hour, minute) = (
            Int.random(in: 10...28, using: &random), Int.random(in: 10...12, using: &random),
            Int.random(in: 10...59, using: &random)
        )
        let half = hour == 12 ? "PM" : "AM"
        return .text(
            [
                "\"2026-08-\(day) \(hour):\(minute):17 +0200\"",
                "\"2026-08-\(day) \(hour):\(minute):17\u{202F}\(half) +0200\"",
                "\"2026-08-\(day)T\(hour):\(minute):17+02:00\"", "\"2026-08-\(day)\"",
            ].randomElement(using: &random) ?? "")
    }

    private static func number(_ random: inout SeededRandom) -> Node {
        .text(
            ["\(Int.random(in: 20...90, using: &random))", "55.5", "null", "\"60\"", "6.1e1"].randomElement(
                using: &random) ?? "")
    }

    private static func entry(_ random: inout SeededRandom) -> Node {
        var members: [(String, Node)] = [("date", date(&random))]
        switch Int.random(in: 0...5, using: &random) {
        case 0: members += [("Min", number(&random)), ("Avg", number(&random)), ("Max", number(&random))]
        case 1: members += [("startDate", date(&random)), ("endDate", date(&random)), ("qty", number(&random))]
        case 2:
            members += [
                ("startDate", date(&random)), ("endDate", date(&random)), ("value", .text("\"Core\"")),
                ("qty", number(&random)),
            ]
        case 3: members += [("sleepStart", date(&random)), ("sleepEnd", date(&random)), ("core", .text("3.5"))]
        case 4: members += [("systolic", number(&random)), ("diastolic", number(&random))]
        default:
            members += [
                ("qty", number(&random)), ("note", .object([("b", .text("1")), ("a", .list([.text("true")]))])),
            ]
        }
        if Bool.random(using: &random) { members.append(("source", .text("\"Anna’s\u{A0}Watch|iPhone\""))) }
        if Bool.random(using: &random) { members.append(("metadata", .object([("HKTimeZone", .text("\"UTC\""))]))) }
        return .object(members)
    }

    private static func metric(_ random: inout SeededRandom) -> Node {
        let kinds = [
            ("heart_rate", "bpm"), ("step_count", "count"), ("sleep_analysis", "hr"), ("blood_pressure", "mmHg"),
            ("weight_body_mass", "kg"), ("mindful_minutes", "min"), ("unheard_of", "x"), ("active_energy", "lx"),
        ]
        let (name, units) = kinds.randomElement(using: &random) ?? kinds[0]
        return .object([
            ("name", .text("\"\(name)\"")), ("units", .text("\"\(units)\"")),
            ("data", .list((0..<Int.random(in: 0...6, using: &random)).map { _ in entry(&random) })),
        ])
    }

    private static func item(_ random: inout SeededRandom) -> Node {
        let names = ["Outdoor Run", "Headache", "Menstrual Flow", "Yoga"]
        return .object([
            ("start", date(&random)), ("end", date(&random)),
            ("name", .text("\"\(names.randomElement(using: &random) ?? "")\"")), ("severity", .text("\"Mild\"")),
            ("threshold", number(&random)), ("duration", number(&random)),
            ("distance", .object([("qty", number(&random)), ("units", .text("\"km\""))])),
            ("heartRateData", .list([.object([("Avg", number(&random)), ("date", date(&random))])])),
            (
                "route",
                .list([.object([("lat", .text("52.5")), ("lon", .text("13.4")), ("timestamp", date(&random))])])
            ),
            ("voltageMeasurements", .list([.object([("voltage", number(&random)), ("units", .text("\"mcV\""))])])),
        ])
    }

    /// Parts of a request: `(name, elements)`.
    private static func parts(_ random: inout SeededRandom) -> [(String, [Node])] {
        let names = [
            "workouts", "symptoms", "cycleTracking", "ecg", "heartRateNotifications", "stateOfMind", "medications",
            "unknown",
        ]
        var parts = [("metrics", (0..<Int.random(in: 1...6, using: &random)).map { _ in metric(&random) })]
        for name in names where Bool.random(using: &random) {
            parts.append((name, (0..<Int.random(in: 0...3, using: &random)).map { _ in item(&random) }))
        }
        return parts
    }

    private static func body(
        _ parts: [(String, [Node])], _ random: inout SeededRandom, shuffled: Bool = false
    ) -> [UInt8] {
        // The parts themselves stay in order, because the numbers of the items depend on it.
        let texts = parts.map { "\"\($0.0)\":" + Node.list($0.1).json(&random, shuffled: shuffled) }
        return Array(#"{"data":{\#(texts.joined(separator: ","))}}"#.utf8)
    }

    private static func changes(_ body: [UInt8]) throws -> PushedChanges {
        try HealthAutoExport.changes(in: body, aggregation: nil, now: testNow)
    }

    @Test(arguments: 0..<200) func theOrderOfMembersChangesNothing(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let parts = Self.parts(&random)
        let plain = try Self.changes(Self.body(parts, &random))
        let shuffled = try Self.changes(Self.body(parts, &random, shuffled: true))
        #expect(plain.rows == shuffled.rows && plain.items == shuffled.items)
        #expect(plain.quarantined.map(\.line) == shuffled.quarantined.map(\.line) && plain.reasons == shuffled.reasons)
        // Every item is either in the columns or quarantined, never both.
        let taken = Set(plain.records.line)
        let apart = Set(plain.quarantined.map(\.line))
        #expect(taken.isDisjoint(with: apart) && taken.union(apart).count == Int(plain.items))
    }

    /// A request may arrive in pieces that are cut between metrics and between items.
    @Test(arguments: 0..<100) func aRequestInPiecesGivesTheSame(seed: UInt64) throws {
        var random = SeededRandom(seed: 1000 + seed)
        let parts = Self.parts(&random)
        let whole = try Self.changes(Self.body(parts, &random))
        var rows: [PushedRow] = []
        var items: Int64 = 0
        for (name, elements) in parts {
            for element in elements {
                let piece = try Self.changes(Self.body([(name, [element])], &random))
                rows += piece.rows
                items += piece.items
            }
        }
        #expect(rows.map(\.placeless).sorted() == whole.rows.map(\.placeless).sorted() && items == whole.items)
    }

    @Test(arguments: 0..<40) func damageNeverCrashesAndNeverTakesHalfARequest(seed: UInt64) throws {
        var random = SeededRandom(seed: 5000 + seed)
        let body = Self.body(Self.parts(&random), &random)
        let whole = try Self.changes(body)
        for _ in 0..<60 {
            // A truncated request isn't valid JSON.
            let end = Int.random(in: 0..<body.count, using: &random)
            #expect(throws: PushError.self) { try Self.changes(Array(body[..<end])) }
            var damaged = body
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[Int.random(in: 0..<body.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let changes = try? Self.changes(damaged) else { continue }
            let columns = [
                changes.records.type.count, changes.records.start.count, changes.records.end.count,
                changes.records.value.count, changes.records.unit.count, changes.records.origin.count,
                changes.records.created.count, changes.records.flags.count, changes.records.metadata.count,
                changes.records.payload.count, changes.records.line.count,
            ]
            #expect(Set(columns).count == 1 && changes.quarantined.allSatisfy { $0.raw.utf8.count <= 4096 })
            #expect(changes.records.line.allSatisfy { (1...changes.items).contains($0) })
        }
        #expect(whole.items > 0 || whole.rows.isEmpty)
    }
}
