import Foundation
import Glibc
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Handlers with events are swapped, to other languages and back: nights and workouts stay what they are at the
    /// backend, and a plugin that would lose them is refused.
    ///
    /// `HEALTHBUS_EVENT_SWAPS`, `HEALTHBUS_EVENT_DAYS` and `HEALTHBUS_EVENT_SEED` set other numbers, for runs by hand.
    @Suite struct EventSwapTests {
        private static let swaps = Programs.number("HEALTHBUS_EVENT_SWAPS", else: 6)
        private static let days = Programs.number("HEALTHBUS_EVENT_DAYS", else: 60)
        private static let seed = Programs.number("HEALTHBUS_EVENT_SEED", else: 1)

        /// Workouts in Python: every one there is, with little about it.
        private static let allWorkouts = """
            for page in pages:
                for kind, start, end, id in zip(page["type"], page["start"], page["end"], page["id"]):
                    if page["types"][kind] == "HKWorkoutTypeIdentifier" and any(a <= start < b for a, b in day["window"]):
                        events.append((id, start, end))
            """

        /// A handler in Python that has the same manifest as a shipped one.
        /// - Parameter code: Python that fills `events` with ids, starts and ends, given `day` and `pages`.
        static func plugin(
            _ name: String, like other: String, kind: String, on stack: TestStack, _ code: String
        ) throws -> String {
            let shipped = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "plugins/\(other)/plugin.json")
            var manifest = try Value(json: Data(contentsOf: shipped)).object ?? [:]
            manifest["name"] = .string(name)
            manifest["executable"] = nil
            manifest["exec"] = ["python3", "handler.py"]
            manifest["figures"] = nil
            let folder = stack.path(name)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            _ = try stack.write("\(name)/plugin.json", Value.object(manifest).json())
            let indented = code.replacing("\n", with: "\n        ")
            _ = try stack.write(
                "\(name)/handler.py",
                """
                import json, sys
                from datetime import datetime, timezone

                def say(line):
                    print(json.dumps(line), flush=True)

                def iso(at):
                    return datetime.fromtimestamp(at // 1000000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

                for text in sys.stdin.buffer:
                    line = json.loads(text)
                    if "hello" in line:
                        say({"hello": {"protocol": 1, "name": "\(name)", "version": 1, "ids": True}})
                    elif "day" in line:
                        day, pages, events = line["day"], [], []
                    elif "samples" in line:
                        pages.append(line["samples"])
                    elif "compute" in line:
                        of = {"user": day["user"], "date": day["date"]}
                        \(indented)
                        for id, start, end in events:
                            times = {"startDate": iso(start), "endDate": iso(end)}
                            payload = {"id": id, "type": "other", "duration": (end - start) / 1000000, **times}
                            say({"event": {"id": id, "kind": "\(kind)", "payload": payload}, **of})
                        say({"done": day["date"], "user": day["user"]})
                """)
            return folder
        }

        /// How many nights and workouts the backend has, and how many it has deleted.
        private static func documents(_ stack: TestStack) throws -> [String] {
            try stack.rows(
                "backend",
                "SELECT kind || ' ' || deleted || ' ' || count(*) FROM documents WHERE kind > 0 GROUP BY kind, deleted")
        }

        private static func export(_ number: Int, in stack: TestStack) async throws -> String {
            try await stack.generate(
                "export-\(number).zip", "--days", "\(days)", "--records", "\(days * 40)", "--seed", "\(seed + number)")
        }

        /// Exports are imported while sleep and workouts are swapped, and processes are killed (SIGKILL) at random.
        @Test func nightsAndWorkoutsStayUnderLoadAndKills() async throws {
            let files = Self.swaps / 2 + 1
            let expected = try await withStack { stack in
                var words = ["up", "--state", stack.state, "--zone", "Europe/Berlin", "--until-idle"]
                for number in 0..<files { words += ["--import", try await Self.export(number, in: stack)] }
                let ended = try await stack.start(words).ended(within: 300)
                #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                return try await StackContent(of: stack).withoutTombstones
            }
            let nights = expected.documents.count { !$0.hasPrefix("0 ") }
            #expect(nights > Self.days)
            try await withStack { stack in
                let workouts = try Self.plugin(
                    "all-workouts", like: "workouts", kind: "workout", on: stack, Self.allWorkouts)
                var exports: [String] = []
                for number in 0..<files { exports.append(try await Self.export(number, in: stack)) }
                let up = try await stack.upAndReady()
                let first = try await stack.onState("import", exports[0], within: 120)
                #expect(first.exit == .code(0), "\(first.error.suffix(1000))")
                let rest = Array(exports.dropFirst())
                let loading = Task {
                    for export in rest {
                        let ended = try await stack.onState("import", export, within: 120)
                        #expect(ended.exit == .code(0), "\(ended.error.suffix(1000))")
                    }
                }
                var random = Seeded(UInt64(Self.seed))
                var (done, failed) = (0, 0)
                for round in 0..<Self.swaps {
                    let instance = round % 2 == 0 ? "sleep" : "workouts"
                    let other = instance == "sleep" ? "sleep-python" : workouts
                    let plugin = [other, instance, instance][round / 2 % 3]
                    let swap = try await stack.start(
                        ["swap", instance, "--with", plugin, "--state", stack.state] + SwapTests.patience)
                    if round % 3 != 2 {
                        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<1500, using: &random)))
                        let runners = try SwapTests.runners(of: instance, stack).map(\.pid)
                        let victims = try runners + [stack.pid(of: "uploader")].compactMap { $0 }
                        if let victim = victims.randomElement(using: &random) { kill(victim, SIGKILL) }
                    }
                    let ended = try await swap.ended(within: 120)
                    if ended.exit == .code(0) { done += 1 } else { failed += 1 }
                    // A swap fails only if its own process was killed.
                    let isKilled = ended.error.contains("signal 9")
                    #expect(ended.exit == .code(0) || isKilled, "\(round) \(plugin): \(ended.error)")
                    try await until("one that runs", within: 30) {
                        let pids = try SwapTests.runners(of: instance, stack).map(\.pid)
                        return try pids.count == 1 && stack.pid(of: instance) == pids.first
                    }
                }
                try await loading.value
                for instance in ["sleep", "workouts"] {
                    let last = try await stack.start(
                        ["swap", instance, "--with", instance, "--state", stack.state] + SwapTests.patience
                    ).ended(within: 120)
                    #expect(last.exit == .code(0), "\(last.error)")
                }
                try await stack.interrupt(up)
                let ended = try await stack.up("--until-idle").ended(within: 300)
                #expect(ended.exit == .code(0), "\(ended.error.suffix(3000))")
                let differences = try await StackContent(of: stack).withoutTombstones.differences(from: expected)
                #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
                print("event swaps: \(done) done, \(failed) killed; \(nights) nights and workouts")
            }
        }

        /// Swapped on a quiet stack, no night or workout is deleted and delivered again.
        @Test func nothingIsDeletedAndAddedAgain() async throws {
            try await Self.withEvents { stack in
                let before = try Self.documents(stack)
                let workouts = try Self.plugin(
                    "all-workouts", like: "workouts", kind: "workout", on: stack, Self.allWorkouts)
                let swap = try await stack.onState("swap", "sleep", "--with", "sleep-python", "--json")
                let trial = try swap.json()["trial"]
                // The same nights, to the last digit.
                #expect(swap.exit == .code(0) && trial["differing"] == 0, "\(swap.output)\(swap.error)")
                #expect(trial["events"].array?.first?["gone"] == 0 && trial["eventDays"].int ?? 0 > 30)
                let other = try await stack.onState("swap", "workouts", "--with", workouts)
                #expect(other.exit == .code(0) && other.output.contains("keeps "), "\(other.output)\(other.error)")
                try await until("the other plugin's workouts") {
                    try stack.number(
                        "backend",
                        "SELECT count(*) FROM documents WHERE kind = 1 AND deleted = 0 AND json_extract(body, '$.activeEnergy') IS NOT NULL"
                    ) == 0
                }
                #expect(try Self.documents(stack) == before)
                let topics = try ["sleep", "workouts"].flatMap { instance in
                    try stack.rows(
                        instance,
                        "SELECT DISTINCT topic FROM changes WHERE topic NOT LIKE 'alert.%' ORDER BY topic")
                }
                #expect(topics == ["events.sleep", "figures.sleep", "events.workouts", "figures.workouts"])
            }
        }

        /// - Parameters:
        ///   - name: of the plugin; `code`: which events it has.
        @Test(arguments: [
            ("none", "workouts", "workout", "pass"),
            ("renamed", "workouts", "workout", allWorkouts + "\nevents = [(id + 'x', a, b) for id, a, b in events]"),
            (
                "moved", "workouts", "workout",
                allWorkouts + "\nevents = [(i, a + 10**11, b + 10**11) for i, a, b in events]"
            ),
            ("rekinded", "workouts", "exercise", allWorkouts),
            ("no-nights", "sleep", "night", "pass"),
        ])
        func aPluginThatLosesEventsIsRefused(
            _ name: String, _ instance: String, _ kind: String, _ code: String
        ) async throws {
            try await Self.withEvents { stack in
                let before = try Self.documents(stack)
                let plugin = try Self.plugin(name, like: instance, kind: kind, on: stack, code)
                let pid = try stack.pid(of: instance)
                let noun = instance == "sleep" ? "nights" : "workouts"
                let words = try Regex("would delete \\d+ of \\d+ \(noun) \\(20\\d\\d-\\d\\d-\\d\\d")
                for command in [
                    ["swap", instance, "--with", plugin], ["run", instance, "--plugin", plugin, "--takeover"],
                    ["run", instance, "--plugin", plugin, "--standby"],
                ] {
                    let ended = try await stack.start(command + ["--state", stack.state]).ended(within: 60)
                    #expect(ended.exit == .code(1), "\(command): \(ended.output)\(ended.error)")
                    #expect(
                        ended.error.contains(words) && ended.error.contains("--force"), "\(command): \(ended.error)")
                    #expect(try pid != nil && stack.pid(of: instance) == pid)
                }
                #expect(!stack.recordsSwap)
                #expect(try Self.documents(stack) == before)
            }
        }

        /// Whoever insists gets what the plugin computes; going back restores it.
        @Test func takingOverByForce() async throws {
            try await Self.withEvents { stack in
                let before = try Self.documents(stack)
                let plugin = try Self.plugin("none", like: "workouts", kind: "workout", on: stack, "pass")
                let hand = try await stack.start(
                    ["run", "workouts", "--plugin", plugin, "--takeover", "--force", "--state", stack.state])
                func workouts() throws -> Int {
                    try stack.number("backend", "SELECT count(*) FROM documents WHERE kind = 1 AND deleted = 0")
                }
                try await until("no workouts: \(hand.error.suffix(500))") { try workouts() == 0 }
                hand.child.signal(SIGTERM)
                _ = try await hand.ended(within: 20)
                // The supervisor's own process takes the place again, and computes everything again.
                try await until("the same as before") { try Self.documents(stack) == before }
            }
        }

        /// A running stack with nights and workouts.
        private static func withEvents(_ body: (TestStack) async throws -> Void) async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "60", "--records", "3000", "--seed", "4")
                let ended = try await stack.up("--import", export, "--until-idle").ended(within: 120)
                #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                let up = try await stack.upAndReady()
                try await body(stack)
                let stopped = try await stack.interrupt(up)
                #expect(stopped.exit == .code(0), "\(stopped.error.suffix(2000))")
            }
        }
    }
}
