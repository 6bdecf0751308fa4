import Foundation
import Glibc
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// The same life arrives in five ways, and the result is the same to the last byte.
    ///
    /// `HEALTHBUS_ORDER_DAYS`, `HEALTHBUS_ORDER_RECORDS` and `HEALTHBUS_ORDER_SEED` can be set for larger runs by hand;
    /// `HEALTHBUS_ORDER_SYSTEMS=2` adds the same life in imperial units.
    @Suite struct ArrivalTests {
        /// How a life is cut into files.
        enum Order: String, CaseIterable, CustomTestStringConvertible {
            /// One file per day, oldest first.
            case byDay
            /// One file, with its elements in random order.
            case shuffled
            /// One file per day, in random order.
            case daysAtRandom
            /// Ten exports made one after another: five that grow, and five that contain only the last weeks.
            case overlapping
            /// The same ten, imported in random order, so that an older export may come after a newer one.
            case overlappingAtRandom

            var testDescription: String { rawValue }
        }

        /// 7 March to 5 April 2025, including the night when Berlin's clocks go forward.
        static let days = Programs.number("HEALTHBUS_ORDER_DAYS", else: 30)
        static let records = Programs.number("HEALTHBUS_ORDER_RECORDS", else: 22_000)
        static let seed = Programs.number("HEALTHBUS_ORDER_SEED", else: 1)
        static let systems = Array(["metric", "imperial"].prefix(Programs.number("HEALTHBUS_ORDER_SYSTEMS", else: 1)))

        /// What a stack ends up with: its content, and what `days --json` prints, except for the revisions.
        struct Outcome: Sendable {
            var content: StackContent
            var printed: [Substring]
            /// Ring summaries and routes.
            var beside: [String]

            init(of stack: TestStack) async throws {
                content = try await StackContent(of: stack).withoutTombstones
                printed = try await stack.onState("days", "--json", "--from", "1990-01-01", "--from", "1990-01-01")
                    .output.split(
                        separator: "\n"
                    )
                    .filter { !$0.contains("\"revision\":") }
                beside =
                    try stack.rows("observer", "SELECT date || payload FROM activity_summaries ORDER BY date")
                    + stack.rows(
                        "observer", "SELECT path || first_point || points FROM routes ORDER BY path, first_point")
            }
        }

        /// The outcome of importing everything at once.
        static let whole = Task {
            try await withStack { stack in
                let files = try await ArrivalTests.exports(in: stack)
                let words = files.flatMap { ["--import", $0] } + ["--until-idle", "--state", stack.state]
                let ended = try await stack.start(["up", "--zone", "Europe/Berlin"] + words).ended(within: 600)
                #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                return try await Outcome(of: stack)
            }
        }

        private static func exports(in stack: TestStack) async throws -> [String] {
            var files: [String] = []
            for system in systems {
                files.append(
                    try await stack.generate(
                        "\(system).zip", "--days", "\(days)", "--records", "\(records)", "--seed", "\(seed)", "--units",
                        system))
            }
            return files
        }

        @Test(arguments: Order.allCases) func anyOrder(_ order: Order) async throws {
            let expected = try await Self.whole.value
            #expect(expected.content.days.count >= Self.days && expected.beside.count > Self.days)
            try await withStack { stack in
                var random = Seeded(UInt64(Self.seed))
                let files = try await Self.files(order, in: stack, &random)
                let up = try await stack.upAndReady()
                let imported = try await stack.start(["import", "--state", stack.state] + files).ended(within: 300)
                #expect(imported.exit == .code(0), "\(imported.error)")
                // The stack is interrupted in the middle of computing and delivering.
                try await stack.interrupt(up)
                let ended = try await stack.up("--until-idle").ended(within: 300)
                #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")

                let outcome = try await Outcome(of: stack)
                let differences = outcome.content.differences(from: expected.content)
                #expect(differences.isEmpty, "seed \(Self.seed): \(differences.joined(separator: "\n"))")
                #expect(outcome.printed == expected.printed)
                #expect(outcome.beside == expected.beside)
            }
        }

        /// Overlapping exports in random order; the observer, which reads them, and the consolidator are killed in
        /// between.
        @Test func killedInTheMidst() async throws {
            let expected = try await Self.whole.value
            try await withStack { stack in
                var random = Seeded(UInt64(Self.seed) &+ 7)
                let files = try await Self.files(.overlappingAtRandom, in: stack, &random)
                let words = files.flatMap { ["--import", $0] } + ["--until-idle", "--state", stack.state]
                let up = try await stack.start(["up", "--zone", "Europe/Berlin"] + words)
                for (victim, part) in [("observer", 0.2), ("consolidator", 0.5), ("observer", 0.7)] {
                    let goal = Int(part * Double(expected.content.samples.count))
                    try await until("\(goal) samples", within: 100, every: 1) {
                        stack.committed(by: "observer") >= goal
                    }
                    let pid = try #require(try stack.pid(of: victim))
                    kill(pid, SIGKILL)
                    try await until("the end of \(victim)", within: 5, every: 1) { try stack.pid(of: victim) != pid }
                }
                let ended = try await up.ended(within: 300)
                #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                let outcome = try await Outcome(of: stack)
                let differences = outcome.content.differences(from: expected.content)
                #expect(differences.isEmpty, "seed \(Self.seed): \(differences.joined(separator: "\n"))")
                #expect(outcome.printed == expected.printed && outcome.beside == expected.beside)
            }
        }

        /// The life, cut into files, in the order of import.
        private static func files(
            _ order: Order, in stack: TestStack, _ random: inout Seeded
        ) async throws -> [String] {
            var files: [String] = []
            for export in try await exports(in: stack) {
                let name = (export as NSString).deletingPathExtension
                files += try cut(try ExportPieces(of: export), order, name, &random)
            }
            if order != .byDay && order != .overlapping { files.shuffle(using: &random) }
            return files
        }

        /// Cuts an export into files, and returns their paths in chronological order.
        private static func cut(
            _ pieces: ExportPieces, _ order: Order, _ name: String, _ random: inout Seeded
        ) throws -> [String] {
            let last = try #require(pieces.days.last)
            func write(_ elements: [ExportPieces.Element], _ number: Int, _ day: String) throws -> String {
                let path = "\(name)-\(number).zip"
                // An export made at nine in the evening, before the day is over.
                try pieces.write(
                    elements, exported: "\(day) 21:00:00 +0200", offset: day < "2025-03-30" ? "+0100" : "+0200",
                    number: number, to: path)
                return path
            }
            switch order {
            case .shuffled: return [try write(pieces.elements.shuffled(using: &random), 1, last)]
            case .byDay, .daysAtRandom:
                let byDay = Dictionary(grouping: pieces.elements, by: \.day)
                return try byDay.sorted { $0.key < $1.key }.enumerated().map { try write($1.value, $0, $1.key) }
            case .overlapping, .overlappingAtRandom:
                return try (1...10).map { number in
                    let day = pieces.days[(pieces.days.count * number + 9) / 10 - 1]
                    let first = number <= 5 ? "" : pieces.days[pieces.days.count * (number - 5) / 10]
                    // The last export is made once everything is stored.
                    let end = number == 10 ? "9999" : "\(day) 21:00:00"
                    let stored = pieces.elements.filter { $0.day >= first && $0.created <= end }
                    // The day of the export has rings too, which aren't closed yet.
                    let rings = number == 10 ? [] : pieces.elements.filter { $0.isRings && $0.day == day }
                    return try write(stored + rings.map { $0.halfDone }, number, day)
                }
            }
        }
    }
}
