import Foundation
import HTTP
import HealthModel
import Processes
import Supervisor
import Testing

extension EndToEnd {
    /// Places that a person adds, and a phone's positions, reach the days, `explain` and the backend.
    @Suite struct PlacesTests {
        private static let day = "2025-04-01"

        /// A position every half hour: at home from 08:00 to 16:00 UTC, and 2 km away afterwards.
        private static let fixes: String = {
            let samples = (0..<20).map { number in
                let latitude = number < 16 ? 52.50037 : 52.52
                return """
                    {"type": "CLLocation", "start": \(1_743_494_400 + number * 1800), "source": "Phone",
                     "location": {"latitude": \(latitude), "longitude": 13.40062, "horizontalAccuracy": 12}}
                    """
            }
            return "{\"samples\": [\(samples.joined(separator: ", "))]}"
        }()

        private func places(_ stack: TestStack) async throws -> [String: Value] {
            let reported = try await stack.onState("places", "list", "--json").json()
            return Dictionary(
                (reported["places"].array ?? []).map { ($0["name"].string ?? "", $0) }, uniquingKeysWith: { $1 })
        }

        /// What a tap has shown of places.
        private func events(in tap: Command) -> [Value] {
            tap.output.split(separator: "\n").compactMap { try? Value(json: Array($0.utf8)) }
                .filter { $0["topic"] == "events.places" }
        }

        private func done(_ stack: TestStack, _ words: String...) async throws -> Command.Ended {
            let ended = try await stack.start(["places"] + words + ["--state", stack.state]).ended()
            #expect(ended.exit == .code(0), "\(words): \(ended.error)")
            return ended
        }

        @Test func aPlaceIsInDaysExplainAndTheBackendAndSurvivesRestarts() async throws {
            try await withStack { stack in
                let file = Programs.checkout + "/configs/places.json"
                let up = try await stack.upAndReady("--config", file)
                let answer = try stack.push(
                    "POST", "/v1/samples", Array(Self.fixes.utf8), token: try await stack.token())
                #expect(answer.status == 200, "\(answer.text)")

                let topics = ["events.places", "heartbeat.hub"]
                let values = try await stack.start(["tap", "--json", "--values", "--state", stack.state] + topics)
                let names = try await stack.start(["tap", "--json", "--state", stack.state] + topics)
                for tap in [values, names] { try await until("a tap's first line") { !tap.output.isEmpty } }

                // The person arrived before the place was added, but it still counts as a visit.
                let added = try await done(stack, "add", "Sweet Home", "52.50037", "13.40062", "--radius", "150")
                #expect(added.output == "Watching Sweet Home: 1 place in all.\n")
                try await until("the events") { [values, names].allSatisfy { !events(in: $0).isEmpty } }
                let entered: Value = [
                    "place": "Sweet Home", "state": "satisfied", "from": "unknown", "time": "2025-04-01T08:00:00Z",
                ]
                #expect(events(in: values).contains { $0["body"]["body"]["event"] == entered }, "\(values.output)")
                #expect(events(in: names)[0]["body"]["changed"].array?.first?["names"] == ["place"])
                #expect(!names.output.contains("Sweet"))
                for tap in [values, names] { tap.child.kill() }
                try await until("the visit") { try await places(stack)["Sweet Home"]?["visits"] == 1 }
                let home = try #require(try await places(stack)["Sweet Home"])
                #expect(home["minutes"].double == 480 && home["state"] == "unknown" && home["radiusMeters"] == 150)
                #expect(home["lastEvent"]["state"] == "unsatisfied" && home["lastEvent"]["from"] == "satisfied")

                try await until("the day") {
                    try await stack.onState("days").output.contains("Sweet Home 8:00")
                }
                let explained = try await stack.onState("explain", "visits", Self.day, "--json").json()
                #expect(explained["value"] == 1 && explained["agrees"] == true, "\(explained.json())")
                #expect(explained["visits"].array?.first?["fixesInside"] == 16)
                let reported = try await stack.onState("explain", "visits", Self.day).output
                #expect(reported.contains("Sweet Home") && reported.contains("seen outside"), "\(reported)")

                try await until("the backend") {
                    let day = try stack.get("days", ["from": Self.day, "to": Self.day])["days"].array?.first
                    return day?["visits"].array?.count == 1
                        && day?["places"].array?.first?["place"] == "Sweet Home"
                }
                // A person's positions are given only to plugins that have the right to see them.
                #expect(try stack.get("samples", ["type": "CLLocation"])["samples"].array?.isEmpty == true)

                let status = try await stack.onState("status", "--json").json()
                let metric = status["metrics"].array?.first { $0["metric"] == "places" }
                #expect(metric?["conditions"] == 1, "\(status.json())")
                #expect(try await done(stack, "add", "Rio", "-22.9", "-43.2").output.contains("2 places"))
                // The last event may be long ago, and the state unknown since.
                let listed = try await done(stack, "list").output.split(separator: "\n")
                #expect(listed.first?.hasSuffix("  Last event") == true, "\(listed)")
                let geoJSON = try stack.write("places.geojson", try await done(stack, "export").output)
                _ = try await done(stack, "remove", "Rio")
                #expect(try await places(stack).keys.sorted() == ["Sweet Home"])
                let ended = try await stack.interrupt(up)
                #expect(ended.exit.isSuccess)
                // There are so many digits that the time in a log line won't contain them by chance.
                for secret in ["Sweet", "52.5003", "13.4006"] {
                    #expect(!ended.error.contains(secret), "\(secret) in \(ended.error)")
                }

                // A stopped stack imports places too.
                #expect(try await done(stack, "import", geoJSON).output == "Took in 2 places: 2 places in all.\n")
                let again = try await stack.upAndReady("--config", file)
                #expect(try await places(stack).keys.sorted() == ["Rio", "Sweet Home"])
                // The days of new places are computed again.
                try await until("a visit") { try await places(stack)["Sweet Home"]?["visits"] == 1 }
                #expect(try await stack.onState("verify").exit == .code(0))
                try await stack.interrupt(again)
            }
        }

        @Test func whatIsWrongIsSaidBeforeAnythingIsAsked() async throws {
            try await withStack { stack in
                for (words, message) in [
                    (["add", "Home", "91", "13"], "latitude"), (["add", "Home", "52.5"], "<longitude> is missing"),
                    (["add", "Home", "52.5", "13.4", "--radius", "5"], "radius"),
                    (["fly"], "'places' has no subcommand 'fly'"),
                    (["list", "--radius", "5"], "--radius is only for"),
                ] {
                    let ended = try await stack.start(["places"] + words + ["--state", stack.state]).ended()
                    #expect(ended.exit == .code(2) && ended.error.contains(message), "\(words): \(ended.error)")
                }
                // The default stack doesn't watch any places.
                let none = try await stack.onState("places")
                #expect(none.exit == .code(1) && none.error.contains("configs/places.json"), "\(none.error)")
            }
        }

        @Test func itKeepsTheContract() async throws {
            try await withStack { stack in
                let test = try await stack.run("plugins", "test", "places", "--json", within: 200)
                #expect(test.exit == .code(0), "\(test.output)\n\(test.error)")
                #expect(try test.json()["failed"] == 0)
            }
        }
    }
}
