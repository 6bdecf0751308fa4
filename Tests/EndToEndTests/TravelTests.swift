import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// A flight that is only revealed by `HKTimeZone`, and a person's correction of it.
    @Suite struct TravelTests {
        private static let first = 1_741_564_800  // 2025-03-10T00:00:00Z
        private static let hour = 3600
        private static let berlin = 1 * hour
        private static let honolulu = -10 * hour
        /// When the first night in Honolulu and the first one back in Berlin begin; the observed stay begins and ends
        /// with these hours.
        private static let there = first + 5 * 24 * hour + 10 * hour
        private static let back = first + 10 * 24 * hour + 22 * hour

        private static func text(_ second: Int) -> String {
            let iso = InstantText.iso8601(Instant(seconds: Int64(second)))
            return iso.replacingOccurrences(of: "T", with: " ").replacingOccurrences(of: "Z", with: " +0000")
        }

        /// Twelve days with steps in every hour, and nights with the zone in which they were slept.
        private static func export() -> String {
            var lines: [String] = []
            func record(_ type: String, _ start: Int, _ length: Int, _ rest: String, zone: String? = nil) {
                let attributes =
                    "type=\"\(type)\" sourceName=\"Watch\" \(rest) startDate=\"\(text(start))\" "
                    + "endDate=\"\(text(start + length))\""
                lines.append(
                    zone.map { "<Record \(attributes)><MetadataEntry key=\"HKTimeZone\" value=\"\($0)\"/></Record>" }
                        ?? "<Record \(attributes)/>")
            }
            for hour in 0..<12 * 24 {
                record(
                    "HKQuantityTypeIdentifierStepCount", first + hour * Self.hour + 600, 1200,
                    "unit=\"count\" value=\"\(hour + 1)\"")
            }
            for night in nights {
                for part in 0..<4 {
                    record(
                        "HKCategoryTypeIdentifierSleepAnalysis", night.start + part * 7200, 7200,
                        "value=\"HKCategoryValueSleepAnalysisAsleepCore\"", zone: night.zone)
                }
            }
            return
                "<?xml version=\"1.0\"?><HealthData locale=\"en_DE\"><ExportDate value=\"\(text(first + 20 * 86_400))\"/>"
                + lines.joined(separator: "\n") + "</HealthData>"
        }

        /// The nights are eight hours each; in Honolulu they end at 08:30, which is evening in Berlin.
        private static var nights: [(start: Int, zone: String)] {
            (0..<12).map { day in
                let midnight = first + day * 86_400
                return (5..<10).contains(day)
                    ? (midnight + 10 * hour + 1800, "Pacific/Honolulu")
                    : (midnight + 22 * hour + 600, "Europe/Berlin")
            }
        }

        private static func date(_ second: Int, _ offset: (Int) -> Int) -> String {
            LocalDay(number: (second + offset(second)) / 86_400).description
        }

        private static func steps(_ offset: (Int) -> Int) -> [String: Double] {
            var steps: [String: Double] = [:]
            for hour in 0..<12 * 24 {
                steps[date(first + hour * Self.hour + 600, offset), default: 0] += Double(hour + 1)
            }
            return steps
        }

        /// The days that the nights belong to, with a window from 18:00 to 18:00.
        private static func nightDays(_ offset: (Int) -> Int) -> [String] {
            nights.map { date($0.start + 8 * hour - 1 + 6 * hour, { offset($0 - 6 * hour) }) }
        }

        private func days(_ stack: TestStack) async throws -> [Value] {
            try await stack.onState("days", "--json", "--from", "1990-01-01").json().array ?? []
        }

        private func steps(_ days: [Value]) -> [String: Double] {
            Dictionary(
                uniqueKeysWithValues: days.compactMap { day in
                    day["steps"].double.map { (day["date"].string ?? "", $0) }
                })
        }

        @Test func aFlightSeenOnlyInTheDataMovesDaysAndNights() async throws {
            try await withStack { stack in
                let export = try stack.write("export.xml", Self.export())
                let up = try await stack.upAndReady()
                #expect(try await stack.onState("import", export).exit == .code(0))
                let travel = { $0 >= Self.there && $0 < Self.back ? Self.honolulu : Self.berlin }
                try await settled(stack, steps: Self.steps(travel))
                let seen = try await days(stack)
                #expect(
                    seen.filter { !$0["sleep"].isNull }.compactMap { $0["date"].string }
                        == Set(Self.nightDays(travel)).sorted())
                #expect(seen.first { $0["date"] == "2025-03-15" }?["zone"] == "Europe/Berlin")
                #expect(seen.first { $0["date"] == "2025-03-17" }?["zone"] == "Pacific/Honolulu")
                #expect(Set(Self.nightDays(travel)) != Set(Self.nightDays { _ in Self.berlin }))

                let shown = try await stack.onState("zone", "show", "--json").json()
                #expect(
                    shown["entries"].array?.map { $0["origin"].string ?? "" } == ["set", "seen", "seen"], "\(shown)")
                #expect(shown["entries"].array?[1]["from"] == "2025-03-15T10:00:00Z")
                #expect(shown["entries"].array?[1]["local"] == "2025-03-15T11:00")
                try await correct(stack, seen)
                #expect(try await stack.interrupt(up).exit == .code(0))
                try await stopped(stack)
            }
        }

        /// A person reports that they came back earlier; only the days in between change, and the backend gets them.
        private func correct(_ stack: TestStack, _ seen: [Value]) async throws {
            // The local time at that point is Honolulu's.
            let added = try await stack.onState("zone", "add", "2025-03-18T12:00", "Europe/Berlin", "--json")
            #expect(added.exit == .code(0), "\(added.error)")
            #expect(
                try added.json()["entries"].array?.contains {
                    $0["from"] == "2025-03-18T22:00:00Z" && $0["origin"] == "added"
                } == true)
            let home = Self.first + 8 * 24 * Self.hour + 22 * Self.hour
            let corrected = { $0 >= Self.there && $0 < home ? Self.honolulu : Self.berlin }
            try await settled(stack, steps: Self.steps(corrected))
            let now = try await days(stack)
            let changed = now.filter { day in !seen.contains { $0["date"] == day["date"] && $0 == day } }
            #expect(changed.compactMap { $0["date"].string } == ["2025-03-18", "2025-03-19", "2025-03-20"])
            #expect(changed.filter { $0["revision"] == 2 }.count == changed.count)
            try await until("the backend has them") {
                let theirs = try stack.get("days", ["user": "me"])["days"].array ?? []
                return now.allSatisfy { day in
                    theirs.contains { $0["date"] == day["date"] && $0["steps"] == day["steps"] && $0["final"] == true }
                }
            }
            // When the entry is added again in a different notation, nothing changes; once it is removed, everything is
            // as before except for the revisions.
            let again = try await stack.onState("zone", "add", "2025-03-18T22:00Z", "Europe/Berlin", "--json")
            #expect(try again.json() == added.json())
            #expect(try await stack.onState("zone", "remove", "2025-03-18T12:00").exit == .code(0))
            try await settled(stack, steps: steps(seen))
            #expect(try await days(stack).filter { $0["revision"] == 3 }.count == 3)
        }

        private func settled(_ stack: TestStack, steps expected: [String: Double]) async throws {
            try await until("the days are as they should be, and final", every: 50) {
                let days = try await days(stack)
                return steps(days) == expected && days.allSatisfy { $0["final"] == true }
            }
        }

        private func stopped(_ stack: TestStack) async throws {
            let shown = try await stack.onState("zone", "show")
            #expect(shown.exit == .code(0) && shown.output.contains("Pacific/Honolulu"))
            #expect(try await stack.onState("zone").output == shown.output)
            for (words, exit, message) in [
                (["set", "Europe/Berlin"], 1, "no stack is running"),
                (["show", "--user", "nobody"], 1, "the only user is 'me'"),
                (["set", "Europe/Berln"], 2, "did you mean Europe/Berlin?"), (["set", "berlin"], 2, "Europe/Berlin"),
                (["add", "yesterday", "Europe/Berlin"], 2, "neither a date nor a time"),
                (["add", "2025-03-30"], 2, "zone"),
                (["sett", "Europe/Berlin"], 2, "did you mean set?"), (["show", "x"], 2, "unexpected"),
            ] {
                let ended = try await stack.start(["zone"] + words + ["--state", stack.state]).ended()
                #expect(ended.exit == .code(Int32(exit)), "\(words): \(ended.error)")
                #expect(ended.error.contains(message), "\(words): \(ended.error)")
            }
        }
    }
}
