import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// HealthKit condenses samples later, and people rename their devices and apps: newer exports have the same
    /// measurements in other records.
    @Suite struct RewrittenTests {
        private static func record(
            _ type: String, _ source: String, _ unit: String, _ start: String, _ end: String, _ value: Int
        ) -> String {
            " <Record type=\"HKQuantityTypeIdentifier\(type)\" sourceName=\"\(source)\" unit=\"\(unit)\" "
                + "startDate=\"2025-03-\(start) +0100\" endDate=\"2025-03-\(end) +0100\" value=\"\(value)\"/>"
        }

        /// Steps of ten seconds or, if condensed, of fifty; and `entries` entries of an app.
        private func export(
            _ stack: TestStack, _ name: String, date: String, app: String, entries: Int, isCondensed: Bool
        ) throws -> String {
            let steps = (0..<5).flatMap { minute in
                isCondensed
                    ? [
                        Self.record(
                            "StepCount", "Robin’s Watch", "count", "11 18:0\(minute):00", "11 18:0\(minute):50",
                            5 * (20 + minute))
                    ]
                    : (0..<5).map { part in
                        Self.record(
                            "StepCount", "Robin’s Watch", "count", "11 18:0\(minute):\(part == 0 ? "00" : "\(part)0")",
                            "11 18:0\(minute):\(part + 1)0", 20 + minute)
                    }
            }
            let water = (0..<entries).map { number in
                let time = "\(11 + number % 3) 08:\(10 + number):00"
                return Self.record("DietaryWater", app, "mL", time, time, 200 + 10 * number)
            }
            let run =
                " <Workout workoutActivityType=\"HKWorkoutActivityTypeRunning\" duration=\"30\" durationUnit=\"min\" "
                + "sourceName=\"Robin’s Watch\" startDate=\"2025-03-11 18:00:00 +0100\" endDate=\"2025-03-11 18:30:00 +0100\"/>"
            let body = (steps + water + [run]).joined(separator: "\n")
            return try stack.write(
                name,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<HealthData locale=\"en_DE\">\n "
                    + "<ExportDate value=\"\(date) 09:00:00 +0100\"/>\n\(body)\n</HealthData>\n")
        }

        private func exports(_ stack: TestStack) throws -> [String] {
            [
                try export(stack, "first.xml", date: "2025-03-20", app: "Sip", entries: 6, isCondensed: false),
                try export(stack, "second.xml", date: "2025-11-20", app: "Sip 2", entries: 8, isCondensed: true),
            ]
        }

        /// Steps, millilitres of water and workouts by date.
        private func figures(_ stack: TestStack) async throws -> [String: [Int64?]] {
            let days = try await stack.onState("days", "--all", "--json").json().array ?? []
            return Dictionary(
                uniqueKeysWithValues: days.map {
                    (
                        $0["date"].string ?? "",
                        [
                            $0["steps"].double.map { Int64($0) }, $0["waterMilliliters"].double.map { Int64($0) },
                            Int64($0["workouts"].array?.count ?? 0),
                        ]
                    )
                })
        }

        private static let once: [String: [Int64?]] = [
            "2025-03-11": [550, 690, 1], "2025-03-12": [nil, 720, 0], "2025-03-13": [nil, 470, 0],
        ]
        private static let twice: [String: [Int64?]] = [
            "2025-03-11": [1100, 1120, 1], "2025-03-12": [nil, 1170, 0], "2025-03-13": [nil, 940, 0],
        ]

        private func days(_ stack: TestStack, are expected: [String: [Int64?]]) async throws {
            try await until("the days are \(expected)", every: 100) { try await figures(stack) == expected }
        }

        private func verified(_ stack: TestStack) async throws {
            #expect(try await stack.onState("sync").exit == .code(0))
            try await until("the backend holds what the store holds", every: 200) {
                try await stack.onState("verify").exit == .code(0)
            }
        }

        @Test(arguments: [false, true]) func everySampleCountsOnce(isNewestFirst: Bool) async throws {
            try await withStack { stack in
                let exports = try exports(stack)
                let up = try await stack.upAndReady()
                var reported = ""
                for file in isNewestFirst ? exports.reversed() : exports {
                    let imported = try await stack.onState("import", file)
                    #expect(imported.exit == .code(0), "\(imported.error)")
                    reported += imported.output
                }
                #expect(
                    reported.contains("'Sip' and 'Sip 2' are one source")
                        || reported.contains("'Sip 2' and 'Sip' are one source"), "\(reported)")
                #expect(reported.contains("replaced: 25 older samples"), "\(reported)")
                try await days(stack, are: Self.once)
                let water = try await stack.onState("samples", "--type", "DietaryWater", "--json").json().array ?? []
                #expect(water.count == 8 && Set(water.compactMap { $0["source"].string }) == ["Sip 2"], "\(water)")
                // A complete export has other forms of what it lacks.
                let complete = try await stack.onState("import", "--complete", "--json", exports[1])
                let report = try #require(try complete.json()["files"].array?.first)
                #expect(report["deletedByAbsence"] == 0 && report["refused"] == .null, "\(report)")
                try await verified(stack)
                // Taken back, the first form counts again, under the first name.
                let listed = try await stack.onState("imports", "list", "--json").json()["imports"].array ?? []
                for row in listed where row["path"].string?.hasSuffix("second.xml") == true && row["undone"] == .null {
                    guard let id = row["id"].string else { continue }
                    _ = try await stack.onState("imports", "undo", id, "--yes")
                }
                try await days(
                    stack,
                    are: ["2025-03-11": [550, 430, 1], "2025-03-12": [nil, 450, 0], "2025-03-13": [nil, 470, 0]])
                let left = try await stack.onState("samples", "--type", "DietaryWater", "--json").json().array ?? []
                #expect(Set(left.compactMap { $0["source"].string }) == ["Sip"], "\(left)")
                #expect(try await stack.interrupt(up).exit == .code(0))
            }
        }

        /// `Tests/Fixtures/release-before-doubled.tar.gz` is the state folder of a stopped stack of the release before:
        /// it has imported both exports, and delivered everything.
        @Test func aDoubledStoreOfTheReleaseBeforeIsRepaired() async throws {
            try await withStack { stack in
                try await stack.unpack("release-before-doubled.tar.gz")
                let up = try await stack.upAndReady()
                try await days(stack, are: Self.twice)
                try await until("doctor reports the doubles", every: 200) {
                    try await stack.onState("doctor").output.contains("31 samples are stored twice")
                }
                let before = try await StackContent(of: stack)
                let found = try await stack.onState("doubles", "list", "--json").json()
                let user = try #require(found["users"].array?.first)
                let renamed = user["renamed"].array?.first ?? .null
                #expect(renamed["from"] == "Sip" && renamed["to"] == "Sip 2", "\(found)")
                #expect(user["replaced"]["HKQuantityTypeIdentifierStepCount"] == 25, "\(found)")
                #expect(user["merged"]["HKQuantityTypeIdentifierDietaryWater"] == 6, "\(found)")
                #expect(try await StackContent(of: stack).differences(from: before) == [])

                let repaired = try await stack.onState("doubles", "repair")
                #expect(repaired.exit == .code(0) && repaired.output.contains("31 samples"), "\(repaired)")
                try await days(stack, are: Self.once)
                #expect(try await !stack.onState("doctor").output.contains("stored twice"))
                try await verified(stack)

                // It ends equal to a stack that has imported both with this release.
                let clean = try await withStack { clean in
                    let up = try await clean.upAndReady()
                    for file in try exports(clean) { _ = try await clean.onState("import", file) }
                    try await days(clean, are: Self.once)
                    let samples = try clean.heldSamples().map { "\($0.id) \($0.type) \($0.start) \($0.value)" }
                    #expect(try await clean.interrupt(up).exit == .code(0))
                    return samples
                }
                #expect(
                    try Set(stack.heldSamples().map { "\($0.id) \($0.type) \($0.start) \($0.value)" }) == Set(clean))

                let undone = try await stack.onState("doubles", "undo")
                #expect(undone.exit == .code(0) && undone.output.contains("31 samples"), "\(undone)")
                try await days(stack, are: Self.twice)
                #expect(try await StackContent(of: stack).samples == before.samples)
                #expect(try await stack.interrupt(up).exit == .code(0))
            }
        }
    }
}
