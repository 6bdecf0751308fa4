import Foundation
import Glibc
import HTTP
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// The commands that are used beside a running stack: they may be slow, stopped or killed, but the stack continues.
    @Suite struct ToolTests {
        @Test func tapPrintsLines() async throws {
            try await withStack { stack in
                _ = try await stack.generate("export.zip", "--days", "5")
                let up = try await stack.upAndReady()
                let tap = try await stack.start([
                    "tap", "--json", "--count", "5", "--state", stack.state, "figures.", "observed.",
                ])
                let steps = try await stack.start(["tap", "--count", "2", "--state", stack.state, "heartbeat.steps"])
                let status = try await stack.onState("status", "--json").json()
                #expect(status["running"] == true)
                #expect(try status["processes"].array?.count == Programs.countOfInstances())
                #expect(status["processes"].array?.allSatisfy { $0["state"] == "ready" && $0["restarts"] == 0 } == true)
                // The path is relative to the folder in which the command runs, not the folder in which the stack runs.
                let relative = try await stack.start(
                    program: "/bin/sh",
                    [
                        "-c",
                        "cd \(stack.folder) && exec \(Programs.healthbus) import export.zip --json --state \(stack.state)",
                    ]
                ).ended()
                #expect(relative.exit == .code(0), "\(relative.error)")
                #expect((try relative.json()["files"].array?.first?["added"].int ?? 0) > 4000)

                let ended = try await tap.ended()
                #expect(ended.exit == .code(0) && ended.error.isEmpty, "\(ended.error)")
                let lines = ended.output.split(separator: "\n")
                #expect(lines.count == 5)
                for line in lines {
                    let message = try Value(json: Array(line.utf8))
                    let topic = try #require(message["topic"].string)
                    #expect(topic.hasPrefix("figures.") || topic.hasPrefix("observed."))
                    #expect(message["header"]["from"].string != nil)
                    #expect(message["body"]["head"]["sequence"].int != nil || message["body"]["head"].object != nil)
                    guard topic.hasPrefix("figures.") else { continue }
                    let change = try #require(message["body"]["changed"].array?.first)
                    #expect(
                        change["user"] == "me" && change["day"].int != nil && change["names"].array?.isEmpty == false)
                }
                #expect(try await steps.ended().output.split(separator: "\n").count == 2)
                try await stack.interrupt(up)
            }
        }

        /// Without a stack there is nothing to listen to, so a tap ends unless it was asked to wait for one.
        @Test func tapEndsOrWaitsWithoutAStack() async throws {
            try await withStack { stack in
                let ended = try await stack.onState("tap", "heartbeat.")
                #expect(
                    ended.exit == .code(1) && ended.output.isEmpty && ended.error.contains("no stack is running in")
                        && ended.error.contains("'healthbus up --state \(stack.state)'")
                        && ended.error.contains("--wait"), "\(ended)")
                let mistyped = try await stack.onState("tap", "step")
                #expect(mistyped.exit == .code(2) && mistyped.error.contains("begins with 'step'"), "\(mistyped)")
                let both = try await stack.onState("tap", "--wait", "--since", "1h")
                #expect(both.exit == .code(2) && both.error.contains("leave out --wait"), "\(both)")
                let waiting = try await stack.start([
                    "tap", "--wait", "--count", "1", "--state", stack.state, "heartbeat.steps",
                ])
                try await until("a word about the wait") { waiting.error.contains("nothing is running in") }
                let up = try await stack.upAndReady()
                let heard = try await waiting.ended()
                #expect(heard.exit == .code(0) && heard.output.contains("heartbeat.steps"), "\(heard)")
                try await stack.interrupt(up)
            }
        }

        /// A tap that begins before a stack's first sample and continues while samples arrive shows each of them once.
        /// If it follows a single sample, it ends with the delivery of that sample.
        @Test func tapReplaysWithoutGapOrDouble() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "3")
                let up = try await stack.upAndReady()
                let live = try await stack.start([
                    "tap", "--json", "--since", "10m", "--state", stack.state, "samples.",
                ])
                #expect(try await stack.onState("import", export).exit == .code(0))
                try await until("delivery", within: 30) { stack.committed(by: "backend") > 0 }
                let samples = try stack.heldSamples().count
                try await until("all samples in the tap", within: 30) {
                    live.output.split(separator: "\n").count >= samples
                }
                live.child.kill()
                let lines = try live.output.split(separator: "\n").map { try Value(json: Array($0.utf8)) }
                let ids = lines.compactMap { $0["body"]["id"].string }
                #expect(
                    ids.count == samples && Set(ids).count == samples,
                    "\(lines.count) lines, \(ids.count) samples, \(Set(ids).count) of them distinct, of \(samples)")
                #expect(lines.allSatisfy { $0["body"]["value"] == "hidden" || $0["body"]["value"].isNull })

                let steps = try #require(
                    lines.first { $0["topic"].string?.hasSuffix("StepCount") == true }?["body"]["id"].string)
                let way = try await stack.onState("tap", "--json", "--follow-sample", steps)
                #expect(way.exit == .code(0), "\(way.error)")
                let done = try way.output.split(separator: "\n").map { try Value(json: Array($0.utf8)) }
                #expect(done.first?["step"] == "stored" && done.first?["at"].string != nil)
                #expect(
                    Set(done.compactMap { $0["instance"].string }).isSuperset(of: ["steps", "uploader", "consolidator"])
                )
                #expect(done.allSatisfy { $0["done"] == true })
                // From the middle of the store.
                let half = try #require(lines[lines.count / 2]["body"]["seq"].int)
                let rest = try await stack.onState(
                    "tap", "--json", "--from", "observer", "--since", "\(half)", "--count", "5", "samples.")
                let shown = try rest.output.split(separator: "\n").map { try Value(json: Array($0.utf8)) }
                #expect(rest.exit == .code(0) && shown.first?["body"]["seq"].int == half + 1, "\(rest)")
                try await stack.interrupt(up)
            }
        }

        /// A sample is followed by HealthKit's UUID, from before the stack starts until it is delivered. What holds it
        /// back meanwhile is said, and no step is earlier than its cause.
        @Test func aSampleIsFollowedFromBeforeItArrivesAndSaysWhatHoldsItBack() async throws {
            try await withStack { stack in
                let sample = PushedSteps(number: 1)
                let follow = try await stack.start([
                    "tap", "--json", "--wait", "--follow-sample", sample.uuid, "--state", stack.state,
                ])
                try await until("a word about the wait") { follow.error.contains("nothing is running in") }
                let up = try await stack.upAndReady()
                try await until("a word about the sample") { follow.error.contains("there is no such sample yet") }
                let tap = try await stack.start(["tap", "--json", "--state", stack.state, "figures.", "heartbeat.hub"])
                try await until("the tap's first line") { !tap.output.isEmpty }
                #expect(try await stack.onState("device", "set", "locked=true").exit == .code(0))
                #expect(try stack.push([sample], token: try await stack.token()).status == 200)
                try await until("the reason in the path") { follow.output.contains("the device is locked") }
                try await until("the reason beside the tap") { tap.error.contains("held back: the device is locked") }
                #expect(try await stack.onState("device", "set", "locked=false").exit == .code(0))
                let ended = try await follow.ended(within: 60)
                #expect(ended.exit == .code(0), "\(ended.error)")
                try await until("that it goes on") { tap.error.contains("no longer held back") }
                try await until("the figures") {
                    tap.output.contains(#""names":["#) && tap.output.contains(#""figures.steps""#)
                }
                tap.child.kill()

                let steps = try ended.output.split(separator: "\n").map { try Value(json: Array($0.utf8)) }
                #expect(steps.contains { $0["step"] == "fired" && $0["done"] == false && $0["why"].string != nil })
                #expect(steps.first?["note"].string?.contains(sample.uuid.lowercased()) == true, "\(ended.output)")
                // What a step's own process says ("at") and what the tap saw ("seen") are two clocks.
                let path = ["stored", "fired", "released", "computed"].compactMap { name in
                    steps.last { $0["step"].string == name && $0["done"] == true }
                }
                for clock in ["at", "seen"] {
                    let times = path.compactMap { $0[clock].string.flatMap { InstantText.parse($0) } }
                    #expect(path.count == 4 && times.count > 1 && times == times.sorted(), "\(ended.output)")
                }
                try await stack.interrupt(up)
            }
        }

        /// A tap that has stopped reading costs the hub a few megabytes, and costs other processes nothing.
        @Test func stoppedTap() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "40")
                let up = try await stack.upAndReady()
                let hub = try #require(try stack.pid(of: "hub"))
                let tap = try await stack.start(["tap", "--json", "--heartbeats", "--state", stack.state])
                try await until("the tap's first line") { !tap.output.isEmpty }
                tap.child.signal(SIGSTOP)
                let before = try memory(of: hub)
                let ended = try await stack.onState("import", "--json", export)
                #expect(ended.exit == .code(0), "\(ended.error)")
                let samples = Int(try ended.json()["files"].array?.first?["added"].int ?? 0)
                try await until("delivery", within: 30) { stack.committed(by: "backend") >= samples * 99 / 100 }
                #expect(try memory(of: hub) - before < 40 << 20)
                tap.child.kill()
                try await stack.interrupt(up)
            }
        }

        /// All the command does is hand the file over; if it is killed halfway, nothing is lost.
        @Test func importCommandKilled() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "90", "--records", "60000")
                let up = try await stack.upAndReady()
                let command = try await stack.start(["import", export, "--state", stack.state])
                try await until("the first samples", every: 1) { stack.committed(by: "observer") > 0 }
                let open = try stack.number(
                    "observer", "SELECT count(*) FROM imports WHERE state IN ('announced', 'open')")
                command.child.kill()
                #expect(open == 1)
                // Neither the command nor the file itself is needed any more.
                try FileManager.default.removeItem(atPath: export)
                try await until("the import's end", within: 30) {
                    try stack.rows("observer", "SELECT state FROM imports") == ["closed"]
                }
                let ended = try await stack.interrupt(up)
                #expect(ended.exit == .code(0))
                #expect(try stack.heldSamples().count > 59_000)
                #expect(try FileManager.default.contentsOfDirectory(atPath: stack.state + "/observer/inbox") == [])
            }
        }

        /// Resident bytes.
        private func memory(of pid: pid_t) throws -> Int {
            let text = try String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8)
            return (Int(text.split(separator: " ")[1]) ?? 0) * 4096
        }
    }
}
