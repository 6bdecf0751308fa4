import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// A zone given at a later start isn't used, and the stack reports that.
    @Suite struct ZoneChoiceTests {
        @Test func upSaysWhichZoneHolds() async throws {
            try await withStack { stack in
                let first = try await stack.upAndReady()
                #expect(!first.error.contains("isn't used"))
                try await until("a timeline") { try await stack.onState("zone", "show").exit == .code(0) }
                try await stack.interrupt(first)
                let same = try await stack.upAndReady()
                #expect(!same.error.contains("isn't used"))
                try await stack.interrupt(same)
                let up = try await stack.start(["up", "--state", stack.state, "--zone", "America/New_York"])
                try await until("all ready: \(up.error)") { up.error.contains("processes are ready") }
                let advice = "'healthbus zone set America/New_York --state \(stack.state)'"
                #expect(
                    up.error.contains("zone   Europe/Berlin") && up.error.contains("--zone America/New_York isn't used")
                        && up.error.contains(advice), "\(up.error)")
                #expect(try await stack.onState("zone", "show").output.contains("Europe/Berlin"))
                // The zone that was set also takes precedence over the environment and the configuration.
                try await stack.interrupt(up)
                let config = try stack.write(
                    "config.json", #"{"instances": {"observer": {"configuration": {"zone": "Asia/Tokyo"}}}}"#)
                for (words, environment, by) in [
                    ([], ["HEALTHBUS_ZONE": "Asia/Tokyo"], "HEALTHBUS_ZONE=Asia/Tokyo isn't used"),
                    (["--config", config], [:], "'zone' Asia/Tokyo in \(config) isn't used"),
                ] {
                    let up = try await stack.start(["up", "--state", stack.state] + words, environment: environment)
                    try await until("all ready: \(up.error)") { up.error.contains("processes are ready") }
                    #expect(up.error.contains("zone   Europe/Berlin") && up.error.contains(by), "\(up.error)")
                    #expect(up.error.contains("'healthbus zone set Asia/Tokyo --state \(stack.state)"), "\(up.error)")
                    try await stack.interrupt(up)
                }
                let again = try await stack.upAndReady()
                // The command that the message suggests.
                let words = advice.dropFirst().dropLast().split(separator: " ").dropFirst().map(String.init)
                #expect(try await stack.start(words).ended().output.contains("America/New_York"))
                try await stack.interrupt(again)
            }
        }

        @Test func theDemoSaysWhichZoneHolds() async throws {
            try await withStack { stack in
                let first = try await stack.start(["demo", "--state", stack.state, "--zone", "Asia/Tokyo"])
                try await until("the demo is ready: \(first.error)", within: 120) {
                    first.output.contains("Ctrl-C stops it")
                }
                #expect(first.output.contains("zone   Asia/Tokyo\n"))
                try await stack.interrupt(first)
                let again = try await stack.start(["demo", "--state", stack.state, "--zone", "Europe/Paris"])
                try await until("the demo is ready again: \(again.error)", within: 120) {
                    again.output.contains("Ctrl-C stops it")
                }
                #expect(
                    again.output.contains(
                        "zone   Asia/Tokyo, where this state's days begin: --zone Europe/Paris isn't used"),
                    "\(again.output)")
                // The samples end up on the same timeline, rather than on a second one that is a few hours off.
                #expect(again.output.contains(" 0 added"), "\(again.output)")
                try await stack.interrupt(again)
            }
        }
    }
}
